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
