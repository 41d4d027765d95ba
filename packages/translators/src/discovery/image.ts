/** What an image reference says about its version. */
export interface ImageVersion {
  readonly tag: string;
  /** Such as `sha256:…`. */
  readonly digest: string;
}

// Source: github.com/distribution/reference, the grammar of references.
const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const HOST = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?";
const REFERENCE = new RegExp(
  `^(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<algorithm>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):(?<hex>[0-9a-fA-F]{32,}))?$`,
);

// Source: github.com/opencontainers/go-digest, the algorithms that may be used, with the length of their values.
const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** Tag and digest of an image reference, "" where it has none; undefined for a text that is no reference. */
export function imageVersion(image: string): ImageVersion | undefined {
  const match = REFERENCE.exec(image);
  if (match === null) return undefined;
  const { tag = "", algorithm, hex = "" } = match.groups ?? {};
  if (algorithm === undefined) return { tag, digest: "" };
  const isDigest = DIGEST_LENGTHS[algorithm] === hex.length && hex === hex.toLowerCase();
  return isDigest ? { tag, digest: `${algorithm}:${hex}` } : undefined;
}
