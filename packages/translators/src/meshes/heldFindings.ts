import type { Mesh } from "@isthmus/api";
import { type Finding, warningFinding } from "../findings.ts";

/** Why what is written for a mesh stays although its control plane, or its Cilium, is gone; for whatever relies on it. */
export function heldFindings({ spec }: Pick<Mesh, "spec">): readonly Finding[] {
  const reasons = [spec?.held?.reason ?? "", spec?.cilium?.held ?? ""].filter((reason) => reason !== "");
  return reasons.map((reason) => warningFinding("MeshHeld", reason));
}
