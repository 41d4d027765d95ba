import type { Resource } from "@isthmus/core";
import { codeAnchor, explainedCode } from "@isthmus/insights/catalogue";
import { t } from "../strings.ts";
import { diagnoseCommand, explainCommand, kubectlGet, meshctlFor } from "./commands.ts";
import { objectPath } from "./objectPath.ts";

/** Something that can be copied of an object, made when it is asked for. */
export interface Copy {
  readonly label: string;
  text(): string;
}

/** The commands that show an object, and its link. */
export function copiesOf(object: Resource, origin: string): readonly Copy[] {
  const meshctl = meshctlFor(object);
  return [
    { label: t.objects.copyKubectl, text: () => kubectlGet(object) },
    ...(meshctl === undefined ? [] : [{ label: t.objects.copyMeshctl, text: () => meshctl }]),
    ...(object.kind === "KubernetesCluster" ? [{ label: t.objects.copyDiagnose, text: () => diagnoseCommand(object.metadata.name) }] : []),
    { label: t.objects.copyLink, text: () => `${origin}${objectPath(object)}` },
  ];
}

/** The command that explains a code of insights, the link of its page, and where its documentation is. */
export function copiesOfCode(code: string, origin: string): readonly Copy[] {
  const documentation = documentationOfCode(code);
  return [
    { label: t.objects.copyMeshctl, text: () => explainCommand(code) },
    { label: t.objects.copyLink, text: () => `${origin}/insights/${encodeURIComponent(code)}` },
    ...(documentation === undefined ? [] : [{ label: t.insights.documentation, text: () => documentation }]),
  ];
}

/** The section of the documentation about a code, as a path in the sources, as nobody knows here where they are published; undefined for a code that this version does not know. */
export function documentationOfCode(code: string): string | undefined {
  const known = explainedCode(code);
  return known === undefined ? undefined : `docs/reference/insights.md#${codeAnchor(known)}`;
}
