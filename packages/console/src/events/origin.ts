import { keptText, lastWriterOf, type Resource } from "@isthmus/core";
import type { ObjectGeneration } from "../wire.ts";

/** Labels and annotations by which tools name what they manage an object for, with the words for it. */
const TOOLS: readonly (readonly ["labels" | "annotations", string, string])[] = [
  ["annotations", "argocd.argoproj.io/tracking-id", "Argo CD application"],
  ["labels", "kustomize.toolkit.fluxcd.io/name", "Flux Kustomization"],
  ["labels", "helm.toolkit.fluxcd.io/name", "Flux HelmRelease"],
  ["annotations", "meta.helm.sh/release-name", "Helm release"],
  // Of Kubernetes' recommended labels: tools that have none of their own.
  ["labels", "app.kubernetes.io/managed-by", ""],
];
const CAUSE = "kubernetes.io/change-cause";
const LONGEST_NAME = 128;
const LONGEST_CAUSE = 400;

/** Who wrote an object and why: the tool that its labels and annotations name, else the field manager that changed its spec last; its change cause. What nobody says is left out. */
export function origin(object: Resource | undefined): Pick<ObjectGeneration, "manager" | "cause"> {
  if (object === undefined) return {};
  for (const [member, key, words] of TOOLS) {
    const name = textIn(object.metadata[member], key, LONGEST_NAME);
    // Argo CD's has the object behind the name of the application.
    if (name !== undefined) return { manager: `${words} ${name.split(":", 1)[0]}`.trim(), ...causeOf(object) };
  }
  const writer = lastWriterOf(object);
  return { ...(writer === undefined ? {} : { manager: keptText(writer.manager, LONGEST_NAME) }), ...causeOf(object) };
}

function causeOf({ metadata }: Resource): Pick<ObjectGeneration, "cause"> {
  const cause = textIn(metadata.annotations, CAUSE, LONGEST_CAUSE);
  return cause === undefined ? {} : { cause };
}

function textIn(texts: Readonly<Record<string, string>> | undefined, key: string, longest: number): string | undefined {
  const text: unknown = texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
  return typeof text === "string" && text !== "" ? keptText(text, longest) : undefined;
}
