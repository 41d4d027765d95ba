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
  `^(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

/** Tag and digest of an image reference, "" where it has none; undefined for a text that is no reference. */
export function imageVersion(image: string): ImageVersion | undefined {
  const match = REFERENCE.exec(image);
  if (match === null) return undefined;
  return { tag: match.groups?.["tag"] ?? "", digest: match.groups?.["digest"] ?? "" };
}
