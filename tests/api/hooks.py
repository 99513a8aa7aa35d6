"""What schemathesis has to be taught: NDJSON is text."""

import schemathesis

schemathesis.serializer.alias(["application/x-ndjson"], "text/plain")
