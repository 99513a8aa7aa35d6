"""Made-up secrets of every format of the submit table, put together from parts so that no file holds one whole."""

from __future__ import annotations

from collections.abc import Callable

#: kind: makes the text around a body of twelve letters and digits; the body must never be shown.
KINDS: dict[str, Callable[[str], str]] = {
    "private_key": lambda body: (
        f"-----BEGIN RSA {'PRIVATE'} KEY-----\nMII{body}\n{body}xyz\n-----END RSA {'PRIVATE'} KEY-----"
    ),
    "open_private_key": lambda body: "-----BEGIN " + "PRIVATE KEY-----\n" + f"MII{body}\n{body}",
    "jwt": lambda body: "ey" + f"JhbG{body}.{body}abcd.{body}-sig",
    "aws_access_key": lambda body: "AK" + "IA" + f"{body.upper()}WXYZ",
    "gcp_api_key": lambda body: "AI" + "za" + f"{body}{'k' * (35 - len(body))}",
    "github_token": lambda body: "gh" + "p_" + f"{body}{'g' * 26}",
    "github_pat": lambda body: "github" + "_pat_" + f"{body}_{'h' * 14}",
    "gitlab_token": lambda body: "gl" + "pat-" + f"{body}-{'l' * 9}",
    "slack_token": lambda body: "xo" + "xb-" + f"{body}-12345",
    "stripe_key": lambda body: "sk" + "_live_" + f"{body}abcdef",
    "anthropic_key": lambda body: "sk" + "-ant-" + f"api03-{body}-{'a' * 8}",
    "openai_key": lambda body: "sk" + "-proj-" + f"{body}{'o' * 12}",
    "bearer_token": lambda body: "Authorization: Bear" + f"er {body}/+=abcdef",
    "url_credentials": lambda body: "postgres" + f"://shop:p%40{body}@db.example/shop",
    "env_line": lambda body: "DEPLOY_TO" + f"KEN={body} more words",
    "exported": lambda body: "export AWS_SECRET_ACCESS_K" + f'EY="{body} {body}"',
    "assignment": lambda body: "db_pass" + f"word={body}",
    "quoted": lambda body: '"client_sec' + f'ret": "{body}"',
    "colon": lambda body: "api-k" + f"ey : {body}",
}
#: Known by what stands before or around them on their line, so not inside a longer word or behind a prefix.
NEED_A_LINE = ("env_line", "exported")


class Planter:
    """Makes secrets with bodies of their own and remembers where each was put."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}

    def plant(self, kind: str, where: str) -> str:
        number = len(self.planted)
        body = f"Zq{number:04d}Xv{(number * 7919) % 10000:04d}"
        self.planted[body] = f"{kind} in {where}"
        return KINDS[kind](body)

    def leaks(self, output: bytes) -> list[str]:
        """What of the planted is in an output, in any case of letters."""
        text = output.lower()
        return [where for body, where in self.planted.items() if body.lower().encode() in text]
