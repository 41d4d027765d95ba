import { columnsText } from "../../output/columns.ts";
import { dataText } from "../dataText.ts";
import { field, PLAIN_WIDTH, type TextOptions } from "./certificateText.ts";
import type { RotationPlan } from "./rotationPlan.ts";

/** What a rotation will do, for people and programs. */
export function planText(plan: RotationPlan, { format, width = PLAIN_WIDTH }: TextOptions): string {
  if (format !== "table") return dataText(plan, format);
  const rows = plan.meshes.map((one) => [
    one.mesh,
    one.cluster,
    one.sequence,
    String(one.rounds),
    String(one.controlPlanePods),
    String(one.proxies),
    one.restartedBy,
  ]);
  const table = columnsText(["MESH", "CLUSTER", "SEQUENCE", "ROUNDS", "ISTIOD", "PODS", "BY"], rows, { width, isSentenceLast: true });
  const workloads = plan.meshes.flatMap((one) => one.restarts.map(({ workload, pods, way }) => [one.mesh, workload, String(pods), way]));
  const restarts =
    workloads.length === 0 ? "" : `\n${columnsText(["MESH", "WORKLOAD", "PODS", "RESTART"], workloads, { width, isSentenceLast: true })}`;
  const of = (texts: (mesh: RotationPlan["meshes"][number]) => readonly string[]) =>
    plan.meshes.flatMap((mesh) => texts(mesh).map((text) => [mesh.mesh, text] as const));
  const blockers = of(({ blockers: own }) => own);
  const notes = of(({ notes: own }) => own);
  const lines = [
    field("Rotates", plan.certificate, width),
    field("Takes", plan.seconds === 0 ? "unknown" : `about ${durationText(plan.seconds)}, if nothing is waited for`, width),
    ...(blockers.length === 0 ? [field("Blocked", plan.isComplete ? "by nothing" : "by nothing that was looked at", width)] : []),
    ...blockers.map(([mesh, text]) => field("Blocked", `${mesh}: ${text}`, width)),
    ...notes.map(([mesh, text]) => field("Note", `${mesh}: ${text}`, width)),
  ];
  return `${table}${restarts}\n${lines.join("")}`;
}

function durationText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
