r"""Tokens that are known by how they look: vendors' prefixes and lengths.

No ASCII letter or digit stands before a token; the end of an escape (`\n`, `\u2028`), whose letter
is not part of the text, is such a place too. RE2 finds where a token may begin, `re` reads it.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import LEFT, Finder, Format, Guard, Span, never
from agentfeedback.scrub.needle import next_start

_KEBAB = re.compile(
    rb"(?:[a-z]{1,15}|[0-9]{1,4}|v[0-9]{1,3})"
    rb"(?:[-_.](?:[a-z]{1,15}|[0-9]{1,4}|v[0-9]{1,3}))+[-_.]?"
)


def is_name(buf: bytes, start: int, end: int) -> bool:
    """Whether a match is a name of words and numbers with dashes, as `sk-learn-upgrade-to-new`."""
    return _KEBAB.fullmatch(buf, start, end) is not None


def _tokens(hint: str, body: str) -> Finder:
    next_token = next_start(hint)
    pattern = f"{LEFT}({body})".encode()

    def find(buf: bytes) -> Iterator[Span]:
        match_at = re.compile(pattern).match
        pos = 0
        while (at := next_token(buf, pos)) >= 0:
            match = match_at(buf, at)
            if match is None:
                pos = at + 1
                continue
            start, pos = match.span(1)
            yield start, pos, b""

    return find


def shape(
    kind: str, body: str, *literals: str, start: str = "", guard: Guard = never, whole: bool = False
) -> Format:
    """Return the rule of a token.

    `literals` are bytes one of which every token holds, `start` is a beginning of the pattern in
    RE2 syntax that says where one may be (without it `body`), `whole` that no ASCII letter or digit
    follows.
    """
    # The least of every repeat finds the same places and keeps the search's states few.
    start = start or re.sub(r"\{(\d+),\d*\}", r"{\1}", body)
    hint = f"{LEFT}(?:{start})"
    body = rf"(?:{body})(?![A-Za-z0-9])" if whole else f"(?:{body})"
    return Format(
        kind,
        f"{LEFT}({body})",
        value=(1,),
        hint=hint,
        needles=literals,
        find=_tokens(hint, body),
        guard=guard,
    )


_AN = "[A-Za-z0-9]"
_UR = "[A-Za-z0-9_-]"

FIRST = (
    shape("jwt", rf"eyJ{_UR}{{5,}}\.{_UR}{{8,}}\.{_UR}{{8,}}", "eyJ", start=f"eyJ{_UR}{{5}}"),
    shape(
        "aws_access_key",
        "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        *("AKIA", "ASIA", "ABIA", "ACCA"),
        whole=True,
    ),
    shape("gcp_api_key", "AIza[0-9A-Za-z_-]{35}", "AIza"),
    shape(
        "github_token",
        f"gh[pousr]_{_AN}{{36,}}|github_pat_[A-Za-z0-9_]{{22,}}",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    shape(
        "gitlab_token",
        rf"gl(?:pat|dt|rt|rtr|ptt|cbt|soat|oas|ffct|imt|agent|wt)-{_UR}{{20,}}"
        r"(?:\.[0-9a-z]{2}\.[0-9a-z]{9}|\.[0-9a-z]{9})?",
        "gl",
        start=f"gl(?:pat|dt|rt|rtr|ptt|cbt|soat|oas|ffct|imt|agent|wt)-{_UR}{{20}}",
        guard=is_name,
    ),
    shape(
        "slack_token",
        r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xoxd-[A-Za-z0-9%+/=_-]{10,}"
        "|xapp-[A-Za-z0-9-]{10,}",
        *("xox", "xapp-"),
        guard=is_name,
    ),
    shape(
        "stripe_key",
        f"[sr]k_(?:live|test)_{_AN}{{16,}}|whsec_[A-Za-z0-9+/=]{{16,}}",
        *("k_live_", "k_test_", "whsec_"),
    ),
    shape("anthropic_key", f"sk-ant-{_UR}{{20,}}", "sk-ant-", guard=is_name),
    shape(
        "openai_key",
        f"sk-(?:proj-|svcacct-|admin-|None-)?{_UR}{{20,}}",
        "sk-",
        start=f"sk-{_UR}{{20}}",
        guard=is_name,
    ),
)
"""The vendors whose kinds come before everything else."""

# Four characters of base64 that are three digits.
_BLOCK = "(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5])"

MORE = (
    shape("npm_token", f"npm_{_AN}{{36,}}", "npm_"),
    shape("pypi_token", f"pypi-{_UR}{{50,}}", "pypi-", guard=is_name),
    shape("huggingface_token", f"(?:hf|api_org)_{_AN}{{30,}}", "hf_", "api_org_"),
    shape(
        "supabase_key",
        f"sbp_(?:v0_|oauth_)?[0-9a-f]{{40}}|sb_secret_{_UR}{{20,}}",
        *("sbp_", "sb_secret_"),
        guard=is_name,
    ),
    shape(
        "telegram_token",
        f"(?:bot)?[0-9]{{8,10}}:AA{_UR}{{33}}",
        ":AA",
        start=f"(?:bot)?[0-9]{{8,10}}:AA{_UR}{{33}}",
        whole=True,
    ),
    shape(
        "google_oauth_token",
        rf"ya29\.{_UR}{{20,}}|GOCSPX-{_UR}{{20,}}|1//0{_UR}{{30,}}",
        *("ya29.", "GOCSPX-", "1//0"),
        guard=is_name,
    ),
    shape(
        "sendgrid_key",
        rf"SG\.{_UR}{{16,32}}\.{_UR}{{16,64}}",
        "SG.",
        start=rf"SG\.{_UR}{{16}}",
    ),
    shape("digitalocean_token", "do[opr]_v1_[0-9a-f]{64}", "_v1_", whole=True),
    shape(
        "age_key",
        "AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{40,}",
        "AGE-SECRET-KEY-",
    ),
    shape("azure_key", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", "Q~", whole=True),
    shape(
        "discord_token",
        rf"{_BLOCK}{{5,6}}{_AN}{{0,4}}\.{_UR}{{6}}\.{_UR}{{27,}}",
        ".",
        start=f"{_BLOCK}{{5}}",
    ),
    shape("shopify_token", "shp(?:at|ca|pa|ss|tka|ua)_[0-9A-Fa-f]{32}", "shp", whole=True),
    shape("twilio_key", "SK[0-9a-f]{32}", "SK", whole=True),
    shape(
        "mailgun_key",
        "(?<![_-])(?:key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})",
        "-",
        start="key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
        whole=True,
    ),
    shape(
        "databricks_token",
        "dapi[0-9a-f]{32}(?:-[0-9]{1,2})?",
        "dapi",
        whole=True,
        start="dapi[0-9a-f]{32}",
    ),
    shape("vault_token", rf"hv[sbr]\.{_UR}{{24,}}", *("hvs.", "hvb.", "hvr."), guard=is_name),
    shape(
        "doppler_token",
        rf"dp\.(?:pt|ct|sa|scim|audit|said)\.{_AN}{{40,}}"
        rf"|dp\.st\.(?:[a-z0-9_-]{{2,35}}\.)?{_AN}{{40,}}",
        "dp.",
        start=r"dp\.(?:pt|ct|sa|scim|audit|said|st)\.",
    ),
    shape("linear_key", f"lin_(?:api|oauth|wh)_{_AN}{{32,}}", "lin_"),
    shape("notion_token", f"ntn_{_AN}{{40,}}|secret_{_AN}{{43}}", "ntn_", "secret_", whole=True),
    shape(
        "atlassian_token",
        f"AT(?:A|C|S)TT3[A-Za-z0-9_=-]{{60,}}|ATBB{_AN}{{32}}",
        *("TT3", "ATBB"),
        whole=True,
    ),
    shape(
        "grafana_token",
        f"glsa_{_AN}{{32}}_[0-9A-Fa-f]{{8}}|glc_[A-Za-z0-9+/]{{32,}}={{0,2}}",
        *("glsa_", "glc_"),
        start=f"glsa_{_AN}{{32}}|glc_[A-Za-z0-9+/]{{32}}",
    ),
    shape(
        "planetscale_token",
        "pscale_(?:tkn|pw|oauth|otkn)_[A-Za-z0-9_.=-]{32,}",
        "pscale_",
        guard=is_name,
    ),
    shape("postman_key", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-", whole=True),
    shape("sentry_token", "sntry[asiu]_[A-Za-z0-9+/=_-]{40,}", "sntry"),
    shape(
        "fly_token",
        f"fo1_{_UR}{{40,}}|fm[12][ar]?_[A-Za-z0-9+/=_-]{{40,}}",
        *("fo1_", "fm1", "fm2"),
    ),
    shape("groq_key", f"gsk_{_AN}{{40,}}", "gsk_"),
    shape("xai_key", f"xai-{_AN}{{40,}}", "xai-"),
    shape("replicate_token", f"r8_{_AN}{{30,}}", "r8_"),
    shape("perplexity_key", f"pplx-{_AN}{{40,}}", "pplx-"),
    shape(
        "api_token",
        f"dckr_[po]at_{_UR}{{27,}}|figd_{_UR}{{36,}}|rubygems_[0-9a-f]{{48}}|NRAK-[A-Z0-9]{{27}}"
        f"|HRKU-{_UR}{{36,}}|pul-[0-9a-f]{{40}}|lsv2_(?:pt|sk)_[0-9a-fA-F]{{32}}_[0-9a-fA-F]{{10}}"
        f"|sgp_(?:[0-9a-f]{{16}}_)?[0-9a-f]{{40}}|tskey-[a-z]{{2,12}}-{_AN}{{8,}}-{_AN}{{16,}}",
        *("dckr_", "figd_", "rubygems_", "NRAK-", "HRKU-", "pul-", "lsv2_", "sgp_", "tskey-"),
        start=f"dckr_[po]at_{_UR}{{27}}|figd_{_UR}{{36}}|rubygems_[0-9a-f]{{48}}"
        f"|NRAK-[A-Z0-9]{{27}}|HRKU-{_UR}{{36}}|pul-[0-9a-f]{{40}}|lsv2_(?:pt|sk)_[0-9a-fA-F]{{32}}"
        "|sgp_(?:[0-9a-f]{16}_)?[0-9a-f]{40}|tskey-[a-z]{2,12}-",
        whole=True,
    ),
)
"""The other vendors."""
