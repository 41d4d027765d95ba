import type { Resource } from "@isthmus/core";
import { t } from "../strings.ts";
import { diagnoseCommand, kubectlGet, meshctlFor } from "./commands.ts";
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
