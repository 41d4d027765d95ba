/** An image in a registry. */
export interface ImageReference {
  /** Host, with its port if it has one. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or `sha256:` and the digest of its manifest. */
  readonly version: string;
}

/**
 * Reads `HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`; of a tag and a digest the digest counts. The host must be there: no registry is
 * assumed. Undefined: it is no such reference. Source: OCI Distribution Specification, “Pulling manifests”.
 */
export function imageReferenceOf(text: string): ImageReference | undefined {
  if (text.length > LONGEST) return undefined;
  const slash = text.indexOf("/");
  const registry = text.slice(0, Math.max(slash, 0));
  const [path = "", digest, ...more] = text.slice(slash + 1).split("@");
  const colon = path.lastIndexOf(":");
  const repository = colon < 0 ? path : path.slice(0, colon);
  const tag = colon < 0 ? "latest" : path.slice(colon + 1);
  const isHost = HOST.test(registry) && (registry.includes(".") || registry.includes(":") || registry === "localhost");
  if (!isHost || more.length > 0 || !repository.split("/").every((part) => PART.test(part)) || !TAG.test(tag)) return undefined;
  if (digest !== undefined && !DIGEST.test(digest)) return undefined;
  return { registry, repository, version: digest ?? tag };
}

/** `sha256:` and 64 hexadecimal digits. */
export function isDigest(text: unknown): text is string {
  return typeof text === "string" && DIGEST.test(text);
}

const LONGEST = 512;
const HOST = /^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d{1,5})?$/;
const PART = /^[a-z0-9][a-z0-9._-]*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
