/**
 * Whether the values of a header, or of a trailer, may be a secret, by its name in any case: those that carry credentials by their definition, and all whose name says so. Values of these
 * are never logged. Sources: RFC 9110 (authorization, proxy-authorization), RFC 6265 (cookie, set-cookie); the rest by what such headers are called.
 */
export function isSecretHeader(name: string): boolean {
  return SECRET.test(name);
}

const SECRET =
  /authori[sz]ation|authenticat|cookie|token|secret|password|passwd|session|credential|(?:^|[-_.])(?:auth|key|apikey|pwd|sid|jwt|csrf|xsrf)(?:$|[-_.])/i;
