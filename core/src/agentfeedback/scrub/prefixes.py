"""Tokens of services with a prefix of their own: hidden as `api_token`, like those of `shapes`.

A prefix, and of which characters how many follow at least. Lists by what the prefix looks like, so
that the search shares what it can; it looks at the first characters only, `re` at the whole.
"""

import re

from agentfeedback.scrub.formats import Format
from agentfeedback.scrub.shapes import is_name, shape

_AN, _UR, _HX, _B64 = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-fA-F]", "[A-Za-z0-9+/=_-]"
_SMALL, _BIG, _DOTTED = "[a-z0-9]", "[A-Z0-9]", "[A-Za-z0-9._=-]"

PREFIXES: dict[str, tuple[str, int]] = {
    # Clouds and infrastructure.
    "ABSK": (_B64, 100),
    "bedrock-api-key-": (_B64, 20),
    "LTAI": (_AN, 20),
    "EXO": (_AN, 24),
    "SWMTKN-1-": (_UR, 50),
    "SWMKEY-1-": (r"[A-Za-z0-9/+]", 30),
    "tskey-api-": (_UR, 16),
    "ucat_": (_AN, 24),
    "pnu_": (_AN, 36),
    "tk-us-": (_UR, 48),
    "sha256~": (_UR, 43),
    "rnd_": (_AN, 28),
    "napi_": (_AN, 40),
    "rpa_": (_AN, 28),
    "ico-": (_AN, 32),
    "AstraCS:": (_AN, 24),
    "essu_": (_B64, 40),
    "mdb_sa_sk_": (_UR, 36),
    "CCDB1_": (_UR, 50),
    "csa_": (_HX, 36),
    "fio-u-": (_DOTTED, 60),
    "dnkey-": (_DOTTED, 60),
    "rootly_": (_HX, 60),
    "ion_": (_AN, 40),
    "samsara_api_": (_AN, 22),
    "zpka_": (_UR, 40),
    "unkey_": (_AN, 20),
    # Code and builds.
    "glft-": (_UR, 20),
    "GR1348941": (_UR, 20),
    "CCIPAT_": (_UR, 40),
    "bkua_": (_SMALL, 36),
    "bkps_": (_UR, 40),
    "bkar_": (_UR, 40),
    "BBDC-": (_B64, 30),
    "CLOJARS_": (_AN, 60),
    "cio": (_AN, 32),
    "AKCp": (_AN, 60),
    "cmVmd": (_AN, 55),
    "AIK_CI_": (_AN, 20),
    "AIK_SECRET_": (_AN, 40),
    "mergify_application_key_": (_UR, 40),
    "vcp_": (_UR, 50),
    "vci_": (_UR, 50),
    "vca_": (_UR, 50),
    "vcr_": (_UR, 50),
    "vck_": (_UR, 50),
    "ddp_": (_AN, 36),
    "vtwn_": (_UR, 20),
    "rdme_": (_SMALL, 60),
    "API-": (_BIG, 26),
    "ddog_": (_AN, 30),
    # Models and their tools.
    "nvapi-": (_UR, 50),
    "csk-": (_SMALL, 40),
    "sk_car_": ("[A-Za-z0-9_]", 20),
    "tgp_v1_": (_UR, 40),
    "wandb_v1_": (_UR, 60),
    "llx-": (_AN, 40),
    "AQ.Ab8RN6": (_UR, 40),
    "BSA": (_UR, 26),
    "apk_user_": (_B64, 60),
    "cog_": (_SMALL, 48),
    "sk-lf-": ("[0-9a-f-]", 36),
    "phx_": (_UR, 40),
    "phc_": (_AN, 40),
    "xai-": (_UR, 60),
    "apify_api_": (_AN, 30),
    # Money, mail and shops.
    "EZAK": (_AN, 54),
    "EZTK": (_AN, 54),
    "EAAA": (_UR, 60),
    "EAAM": (_AN, 100),
    "EAAC": (_AN, 100),
    "sq0atp-": (_UR, 22),
    "sq0csp-": (_UR, 43),
    "xkeysib-": ("[0-9a-z-]", 70),
    "xsmtpsib-": ("[0-9a-z-]", 70),
    "shippo_live_": (_HX, 40),
    "shippo_test_": (_HX, 40),
    "duffel_live_": (_DOTTED, 40),
    "duffel_test_": (_DOTTED, 40),
    "FLWSECK_TEST-": ("[A-Za-z0-9-]", 12),
    "FLWSECK-": ("[A-Za-z0-9-]", 12),
    "rzp_live_": (_AN, 14),
    "rzp_test_": (_AN, 14),
    "xnd_production_": (_AN, 40),
    "pdl_live_apikey_": ("[A-Za-z0-9_]", 40),
    "mlsn.": (_AN, 28),
    "mercury_production_": ("[A-Za-z0-9_]", 40),
    "ramp_sec_": (_AN, 36),
    "$aact_prod_": (_B64, 20),
    "$aact_hmlg_": (_B64, 20),
    "api_live.": (_UR, 20),
    "api_live_us.": (_UR, 20),
    "api_live_ca.": (_UR, 20),
    "persona_production_": (_UR, 20),
    "nyk_": ("[A-Za-z0-9_]", 40),
    # Everything else.
    "ops_eyJ": (_B64, 200),
    "p8e-": (_SMALL, 32),
    "tss_": (_UR, 20),
    "prf_cli_": (_AN, 24),
    "apk_": (_B64, 60),
    "4b1d": (_AN, 38),
    "lip_": (_UR, 20),
    "pina_": (_UR, 24),
    "polar_at_": (_UR, 24),
    "polar_oat_": (_UR, 24),
    "polar_pat_": (_UR, 24),
    "os_v2_org_": (_SMALL, 80),
    "os_v2_app_": (_SMALL, 80),
    "cnvca": (_UR, 40),
    "sm_aat_": (_AN, 16),
    "sm_pat_": (_AN, 16),
    "sm_sat_": (_AN, 16),
    "s-s4t2ud-": (_HX, 64),
    "s-s4t2af-": (_HX, 64),
    "tfp_": (_DOTTED, 50),
    "dvc_server_": (_UR, 10),
    "configcat-sdk-1/": (r"[A-Za-z0-9_/-]", 40),
    "gcntfy-": ("[a-z0-9_-]", 60),
}
"""What follows each prefix: which characters, and at least how many."""
_PATTERNS = {
    "re_": ("re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{18,}", "re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{8}"),
    "at.": (
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}",
        r"[ps]at\.[A-Za-z0-9_-]{22}\.",
    ),
    "pat": (r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{8}"),
    "A3-": (
        "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "A3-[A-Z0-9]{6}-",
    ),
    "dt0": (
        r"dt0[a-z][0-9]{2}\.[A-Z0-9a-z]{24}\.[A-Z0-9a-z]{64}",
        r"dt0[a-z][0-9]{2}\.[A-Z0-9a-z]{24}\.",
    ),
    "v1.0-": ("v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}", "v1\\.0-[0-9a-f]{24}-"),
    ".atlasv1.": (r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", r"[A-Za-z0-9]{14}\.atlasv1\."),
    "_mmk": ("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    # The personal access token of Azure DevOps, and the account keys of Azure.
    "AZDO": ("[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "[A-Za-z0-9]{76}AZDO"),
    "-us": ("[0-9a-f]{32}-us[0-9]{1,2}", "[0-9a-f]{32}-us[0-9]"),
    "sgp_": ("sgp_(?:local_|[0-9a-fA-F]{16}_)?[0-9a-fA-F]{40}|sgp_[A-Za-z0-9]{60,}", "sgp_"),
    "scauth_": (
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{10,}",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.",
    ),
    "_gitlab_session=": ("_gitlab_session=[0-9a-z]{32}", "_gitlab_session="),
    "eyJrIjoi": ("eyJrIjoi[A-Za-z0-9+/=_-]{60,}", "eyJrIjoi"),
    "eyJtaXJv": (r"eyJtaXJv[A-Za-z0-9_.-]{40,}", "eyJtaXJv"),
    "ZXlK": (r"ZXlK[A-Za-z0-9+/=_-]{100,}", "ZXlK[A-Za-z0-9+/=_-]{20}"),
}


def _prefixed(prefix: str, characters: str, least: int) -> tuple[str, str]:
    start = re.escape(prefix)
    return f"{start}{characters}{{{least},}}", f"{start}{characters}{{{min(least, 8)}}}"


def _rules() -> tuple[str, str]:
    found = [_prefixed(prefix, *rest) for prefix, rest in PREFIXES.items()]
    found += _PATTERNS.values()
    bodies, starts = zip(*found, strict=True)
    return "|".join(bodies), "|".join(starts)


_BODY, _START = _rules()

PREFIXED: tuple[Format, ...] = (shape("api_token", _BODY, start=_START, guard=is_name),)
"""One rule for all of them; without needles, since its search costs less than to look for each."""
