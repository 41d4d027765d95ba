import type { AnyResource, Resource } from "@isthmus/core";

/** What stands in the place of what nobody shall read. */
const REDACTED = "<redacted>";

/**
 * An object as it may be shown to a person who may read snapshots: without the content of Secrets, without values of
 * environment variables, private keys, passwords in addresses, and whatever else a field says to be secret. Names of
 * Secrets, and public certificates, stay.
 */
export function redacted(resource: Resource): AnyResource {
  const { metadata, ...body } = resource as AnyResource;
  const { managedFields: _, annotations, ...rest } = metadata;
  const isSecret = resource.kind === "Secret" && resource.apiVersion === "v1";
  const content = isSecret ? withoutContent(body) : body;
  const described = annotations === undefined ? rest : { ...rest, annotations: withoutCopy(annotations) };
  const { apiVersion, kind } = resource;
  return shown("", { apiVersion, kind, metadata: described, ...content }) as AnyResource;
}

function withoutContent(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, SECRET_CONTENT.has(field) ? withoutValues(value) : value]),
  );
}

const SECRET_CONTENT: ReadonlySet<string> = new Set(["data", "stringData"]);

function withoutValues(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED]));
}

/** Kept by kubectl: the whole object once more, as text. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function withoutCopy(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, key === LAST_APPLIED ? REDACTED : value]));
}

function shown(field: string, value: unknown): unknown {
  if (typeof value === "string") return isSecretName(field) ? REDACTED : shownText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => shownItem(field, item));
  return Object.fromEntries(Object.entries(value).map(([member, content]) => [member, shown(member, content)]));
}

function shownItem(field: string, item: unknown): unknown {
  if (field === "env" && typeof item === "object" && item !== null && "value" in item) return { ...item, value: REDACTED };
  if ((field === "args" || field === "command") && typeof item === "string") return shownArgument(item);
  return shown(field, item);
}

/** `password`, `apiKey`, `client_secret`; not `secretName`, `credentialName`, `secretRef`, which only name something. */
function isSecretName(name: string): boolean {
  return /(password|passwd|passphrase|secret|token|credentials?|api[-_]?key|private[-_]?key|authorization|cookie)$/i.test(name);
}

function shownArgument(argument: string): string {
  const [, flag] = /^(--?[\w.-]+)=/.exec(argument) ?? [];
  return flag !== undefined && isSecretName(flag) ? `${flag}=${REDACTED}` : shownText(argument);
}

/** Text may hold a file: a mesh configuration, a key, JSON. */
function shownText(text: string): string {
  // Most texts are names: whatever is looked for below has one of these characters in it.
  if (!/[ :=]/.test(text)) return text;
  return (
    text
      .replace(/\b(bearer|basic) [\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`)
      .replace(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g, REDACTED)
      .replace(/(:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${REDACTED}@`)
      // A name begins where no letter of one stands before it: from each of its letters on it would be read again.
      .replace(/("?)(?<![\w.-])([\w.-]+)\1(\s*[:=]\s*)("[^"]*"|[^\s,}]+)/g, (whole, quote: string, name: string, between: string) =>
        isSecretName(name) ? `${quote}${name}${quote}${between}${REDACTED}` : whole,
      )
  );
}
