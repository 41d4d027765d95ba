import type { Installation } from "./engineVerdicts.ts";
import { peerAuthentication } from "./peerTls.ts";
import type { Surroundings } from "./randomFleets.ts";

/** The mesh of the `index`-th of several installations, each with a root namespace of its own. */
export function surroundingsOf(index: number): Pick<Installation, "surroundings" | "meshConfig" | "virtualMesh"> {
  const { trustDomain = "", aliases = [] } = TRUST[index % TRUST.length] ?? {};
  const virtualMesh = VIRTUAL_MESHES[index % VIRTUAL_MESHES.length] ?? "NONE";
  const mode = MODES[index % MODES.length] ?? "";
  const rootNamespace = `root-${index}`;
  const surroundings: Surroundings = {
    trustDomain,
    aliases,
    rootNamespace,
    hasRootRules: index % 2 === 1,
    objects: mode === "" ? [] : [peerAuthentication("mesh-wide", rootNamespace, { mtls: { mode } })],
    features: [
      ...(trustDomain === "" ? ["mesh configuration without a trust domain"] : []),
      ...(trustDomain === "cluster.local" ? ["trust domain cluster.local"] : []),
      ...(aliases.length > 0 ? ["trust domain aliases"] : []),
      ...(mode === "" ? [] : ["peer TLS: of the mesh"]),
      ...(virtualMesh === "NONE" ? [] : [`VirtualMesh: ${virtualMesh}`]),
    ],
  };
  const lines = [
    `rootNamespace: ${rootNamespace}`,
    // Without it, cluster.local.
    ...(trustDomain === "" ? [] : [`trustDomain: ${trustDomain}`]),
    ...(aliases.length === 0 ? [] : [`trustDomainAliases: [${aliases.join(", ")}]`]),
    "extensionProviders:",
    "- name: asked",
    "  envoyExtAuthzGrpc: {service: asked.istio-system.svc.cluster.local, port: 9000}",
  ];
  return { surroundings, meshConfig: `${lines.join("\n")}\n`, virtualMesh };
}

const TRUST = [
  { trustDomain: "own.example", aliases: [] },
  { trustDomain: "own.example", aliases: ["old.example"] },
  { trustDomain: "cluster.local", aliases: [] },
  { trustDomain: "", aliases: ["old.example"] },
  { trustDomain: "own.example", aliases: ["other.example", "older.example"] },
] as const;
const VIRTUAL_MESHES = ["NONE", "OPEN", "OPEN", "OPEN", "OPEN", "CLOSED"] as const;
const MODES = ["", "", "", "PERMISSIVE", "", "", "DISABLE", "", "STRICT"] as const;
