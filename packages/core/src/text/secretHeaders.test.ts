import { expect, test } from "vitest";
import { isSecretHeader } from "./secretHeaders.ts";

test.each([
  "authorization",
  "Proxy-Authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "x-vault-token",
  "X-Amz-Security-Token",
  "x-auth",
  "www-authenticate",
  "session-id",
  "x-session",
  "client_secret",
  "x-password",
  "x.key",
  "apikey",
])("%s may have a secret", (name) => expect(isSecretHeader(name)).toBe(true));

test.each(["x-request-id", ":authority", "x-author", "user-agent", "content-type", "x-monkey", "keyboard", "x-b3-traceid", "accept"])(
  "%s has none",
  (name) => expect(isSecretHeader(name)).toBe(false),
);
