/** What words of other programs are here. */
const HERE: Readonly<Record<string, string>> = {
  ...same(
    ["access", "authz", "route", "routes", "graph", "topology"],
    "the console answers that: meshctl dashboard opens it, snapshot serve does of a file",
  ),
  ...same(["diff"], "compare what meshctl translate prints of both, or use What if in the console"),
  ...same(["test", "lint", "analyze", "vet"], "meshctl validate checks files, meshctl insights what runs"),
  ...same(
    ["status", "proxy-status", "ps"],
    "meshctl sync status says whether clusters have what is desired, meshctl check whether all is well",
  ),
  ...same(["link", "multicluster", "join"], "meshctl cluster register"),
  ...same(["apply", "create", "delete", "edit"], "policies are written with kubectl"),
  ...same(["rollout", "upgrade"], "docs/operations/upgrade.md says how the plane is upgraded"),
  ...same(
    ["pods", "pod", "services", "service", "svc", "deployments", "nodes", "namespaces"],
    "objects of Kubernetes are read with kubectl",
  ),
};

function same(words: readonly string[], hint: string): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, hint]));
}

/** An error of a command line, with what there is in place of a command that there is not; other errors unchanged. */
export function withOtherWords(error: string): string {
  const [, word = ""] = /^error: unknown command '([a-z-]{1,40})'/.exec(error) ?? [];
  const hint = Object.hasOwn(HERE, word) ? HERE[word] : undefined;
  if (hint === undefined) return error;
  // What only looks alike is no help beside it.
  return `error: unknown command '${word}': ${hint}\n`;
}
