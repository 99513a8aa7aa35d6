"""Parts of fake secrets, put together at run time: no file holds one in full."""

DASHES = "-" * 5
PW = "hun" + "ter" + "2x"

PARTS = {
    "pw": PW,
    "gh": "gh" + "p_",
    "pat": "github" + "_pat_",
    "an20": "a1B2" * 5,
    "an22": "a1B2" * 5 + "Zz",
    "an36": "a1B2" * 9,
    "bear": "Bear" + "er",
    "jwt": "ey" + "J" + ".".join(("hbGciOi", "c1d2" * 3, "e-f_" * 3)),
    "aws": "AK" + "IA" + "A1B2" * 4,
    "goog": "AI" + "za" + "a_b-C" * 7,
    "glab": "gl" + "pat-" + "a-B_" * 5,
    "slack": "xo" + "xb-" + "1-a2" * 4,
    "xapp": "xa" + "pp-" + "1-a2" * 4,
    "stripe": "s" + "k_live_" + "a1B2" * 4,
    "whsec": "wh" + "sec_" + "a1B2" * 4,
    "ant": "sk" + "-ant-" + "a-B_" * 6,
    "oai": "sk" + "-" + "a1B2" * 6,
    "oaiproj": "sk" + "-proj-" + "a-B_" * 6,
    "npm": "np" + "m_" + "a1B2" * 9,
    "pypi": "py" + "pi-" + "a-B_" * 13,
    "hf": "h" + "f_" + "a1B2" * 8,
    "pemopen": DASHES + "BEGIN " + "PRIVATE KEY" + DASHES,
    "pemclose": DASHES + "END " + "PRIVATE KEY" + DASHES,
    "rsaopen": DASHES + "BEGIN RSA " + "PRIVATE KEY" + DASHES,
    "rsaclose": DASHES + "END RSA " + "PRIVATE KEY" + DASHES,
}

SHAPES = (
    ["jwt", "aws", "goog", "glab", "slack", "stripe", "ant", "oai", "oaiproj"],
    [
        "jwt",
        "aws",
        "goog",
        "glab",
        "slack",
        "xapp",
        "stripe",
        "whsec",
        "ant",
        "oai",
        "oaiproj",
        "npm",
        "pypi",
        "hf",
    ],
)
"""Names of the parts that are whole tokens: of table A, of table B."""


def _an(length: int) -> str:
    return ("a1B2" * length)[:length]


def _hx(length: int) -> str:
    return ("0f3a" * length)[:length]


def _ur(length: int) -> str:
    return ("a-B_4" * length)[: length - 1] + "Z"


TOKENS = {
    "github_token": ["gh" + "o_" + _an(36), "github" + "_pat_" + _an(30)],
    "aws_access_key": ["AS" + "IA" + "A1B2" * 4],
    "gitlab_token": ["gl" + "rt-" + _ur(20), "gl" + "pat-" + _ur(27) + ".01." + "a1b2c3d4e"],
    "slack_token": ["xo" + "xe-1-" + _an(20), "xa" + "pp-1-A0-" + _an(20)],
    "stripe_key": ["wh" + "sec_" + _an(32), "r" + "k_test_" + _an(24)],
    "anthropic_key": ["sk" + "-ant-api03-" + _ur(93)],
    "openai_key": ["sk" + "-" + _an(48), "sk" + "-or-v1-" + _hx(64), "sk" + "-svcacct-" + _ur(40)],
    "npm_token": ["np" + "m_" + _an(36)],
    "pypi_token": ["py" + "pi-" + _ur(60)],
    "huggingface_token": ["h" + "f_" + _an(34), "api" + "_org_" + _an(34)],
    "supabase_key": ["sb" + "p_" + _hx(40), "sb" + "_secret_" + _an(22) + "_" + _an(8)],
    "telegram_token": ["1234567890:" + "AA" + _ur(33)],
    "google_oauth_token": ["ya" + "29." + _ur(60), "GOC" + "SPX-" + _ur(28), "1/" + "/0" + _ur(40)],
    "sendgrid_key": ["S" + "G." + _ur(22) + "." + _ur(43)],
    "digitalocean_token": ["do" + "p_v1_" + _hx(64)],
    "age_key": ["AGE-SECRET-" + "KEY-1" + "QPZRY9X8GF" * 6],
    "azure_key": ["a1B" + "8Q~" + _an(34)],
    "discord_token": ["MTAw" * 6 + "." + _ur(6) + "." + _ur(38)],
    "shopify_token": ["shp" + "at_" + _hx(32)],
    "twilio_key": ["S" + "K" + _hx(32)],
    "mailgun_key": ["key" + "-" + _hx(32), _hx(32) + "-" + _hx(8) + "-" + _hx(8)],
    "databricks_token": ["da" + "pi" + _hx(32) + "-2"],
    "vault_token": ["hv" + "s." + _ur(90)],
    "doppler_token": ["dp" + ".pt." + _an(43), "dp" + ".st.dev." + _an(43)],
    "linear_key": ["lin" + "_api_" + _an(40)],
    "notion_token": ["nt" + "n_" + _an(46), "sec" + "ret_" + _an(43)],
    "atlassian_token": ["AT" + "ATT3" + _an(180), "AT" + "BB" + _an(32)],
    "grafana_token": ["gl" + "sa_" + _an(32) + "_" + _hx(8)],
    "planetscale_token": ["ps" + "cale_tkn_" + _ur(43)],
    "postman_key": ["PM" + "AK-" + _hx(24) + "-" + _hx(34)],
    "sentry_token": ["snt" + "ryu_" + _hx(64), "snt" + "rys_" + _an(80) + "_" + _an(43)],
    "fly_token": ["fo" + "1_" + _ur(43)],
    "groq_key": ["gs" + "k_" + _an(52)],
    "xai_key": ["xa" + "i-" + _an(80)],
    "replicate_token": ["r" + "8_" + _an(37)],
    "perplexity_key": ["pp" + "lx-" + _an(48)],
    "api_token": ["dc" + "kr_pat_" + _an(27), "ru" + "bygems_" + _hx(48), "pu" + "l-" + _hx(40)],
}
"""Whole tokens by the kind of their marker."""

_AWS = "aB3/" * 10
NAMED = {
    template: [secret]
    for template, secret in (
        *(
            (template, _AWS)
            for template in (
                '"SecretAccessKey": "{}"',
                "secretAccessKey: {}",
                "<SecretAccessKey>{}</SecretAccessKey>",
                "aws configure set aws_secret_access_key {}",
                "aws-secret-access-key = '{}'",
                "AWS Secret Access Key [None]: {}",
                "aws_secret_key => {}",
            )
        ),
        ('"SessionToken": "{}=="', _AWS * 3),
        ("AccountKey={}==", "aB3/" * 20),
        ("https://a.example/b?sv=1&sig={}", "aB3%2F" * 8),
        ("https://hooks.slack.com/services/{}", "T0AB/B0CD/" + _an(24)),
        ("https://discord.com/api/webhooks/{}", "1" * 18 + "/" + _an(68)),
        *(
            (template, PW + "Q9")
            for template in (
                "Authorization: Basic {}",
                "authorization: Token token={}",
                '"Authorization": "ApiKey {}"',
                "'Proxy-Authorization' => 'Digest a, {}'",
                'curl -H "Authorization: {}" x',
                "X-Authorization: custom {}",
                "Cookie: a={}; b=c",
                "Set-Cookie: id={}; Path=/",
                'curl -b "a={}" x',
                "curl --cookie=a={} x",
            )
        ),
    )
}
"""Texts around a secret that their names make one."""

BLOCKS = (
    *(
        (f"{DASHES}BEGIN {name}{DASHES}", f"{DASHES}END {name}{DASHES}")
        for name in (
            "PRIVATE " + "KEY",
            "RSA PRIVATE " + "KEY",
            "OPENSSH PRIVATE " + "KEY",
            "ENCRYPTED PRIVATE " + "KEY",
            "PGP PRIVATE " + "KEY BLOCK",
        )
    ),
    ("---- BEGIN SSH2 ENCRYPTED PRIVATE " + "KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"),
    ("PuTTY-User-" + "Key-File-3: ssh-ed25519", "Private-MAC: " + _hx(64)),
)
"""First and last lines of key blocks."""
