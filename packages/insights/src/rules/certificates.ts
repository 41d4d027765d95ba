import { IssuedCertificate, VirtualMesh } from "@isthmus/api";
import { formatRef, type Index, refOf } from "@isthmus/core";
import { kubectl } from "../insight.ts";
import { defineRule, lookUp } from "../rule.ts";

const DAY_MS = 24 * 3_600_000;

/** CRT1004 of what agents report. */
export const certificateFailed = defineRule({
  code: "CRT1004",
  of: IssuedCertificate,
  judgesOurs: true,
  reads: {},
  *find({ status }) {
    if (status?.state !== "FAILED") return;
    yield {
      field: "status.state",
      message: `is FAILED: ${status.error || "no reason was given"}`,
      remedy: { text: "correct what the message names: it is tried again" },
    };
  },
});

/** CRT1007. */
export const controlPlaneOutdated = defineRule({
  code: "CRT1007",
  of: IssuedCertificate,
  judgesOurs: true,
  reads: {},
  *find({ spec, status, metadata }) {
    if (status?.isControlPlaneOutdated !== true) return;
    const [controlPlane] = spec?.trust?.controlPlanes ?? [];
    const namespace = controlPlane?.namespace ?? "istio-system";
    yield {
      field: "status.isControlPlaneOutdated",
      message: "the control plane has not read the certificate authority that is installed",
      remedy: {
        text: "restart it, or set autoRestartPods",
        command: kubectl({ namespace, clusterName: metadata.clusterName ?? "" }, "rollout", "restart", "deployment", "-l", "app=istiod"),
      },
    };
  },
});

const PODS_SHOWN = 3;

/** CRT1008. */
export const podsOutdated = defineRule({
  code: "CRT1008",
  of: IssuedCertificate,
  judgesOurs: true,
  reads: {},
  *find({ status }) {
    const { podsToRestart = [], podsToRestartCount = 0, restart } = status ?? {};
    if (podsToRestartCount === 0) return;
    const names = `${podsToRestart.slice(0, PODS_SHOWN).join(", ")}${podsToRestartCount > PODS_SHOWN ? " and others" : ""}`;
    yield {
      field: "status.podsToRestart",
      message: `${podsToRestartCount} pods use earlier certificates: ${names}${restart === undefined ? "" : ` (${restart})`}`,
      remedy: { text: "restart them, or set autoRestartPods in the VirtualMesh" },
    };
  },
});

const SOON_MS = 14 * DAY_MS;

/** CRT1003. */
export const certificateEnds = defineRule({
  code: "CRT1003",
  of: IssuedCertificate,
  judgesOurs: true,
  reads: {},
  readsTime: true,
  *find({ status }, { context }) {
    const left = Date.parse(status?.installed?.notAfter ?? "") - context.hour;
    if (!(left < SOON_MS)) return;
    const when = left <= 0 ? "has ended" : `ends in ${Math.floor(left / DAY_MS)} d`;
    yield {
      field: "status.installed.notAfter",
      message: `the certificate authority of the mesh ${when}, and no newer one is in use`,
      remedy: { text: "look at why the agent does not renew it", command: "meshctl check --only certificates" },
    };
  },
});

/** CRT1011, of what the server says: it alone knows roots. */
export const virtualMeshCertificatesEnd = defineRule({
  code: "CRT1011",
  of: VirtualMesh,
  reads: {},
  *find({ metadata, status }) {
    // In other clusters the server does not say it, and an agent might.
    if ((metadata.clusterName ?? "") !== "") return;
    const expiring = status?.conditions?.find((one) => one.type === "CertificateExpiring" && one.status === "True");
    if (expiring === undefined) return;
    yield {
      field: "status.conditions",
      message: expiring.message || "certificates end and were not renewed",
      remedy: { text: "see which ones end", command: "meshctl cert list" },
    };
  },
});

const meshNames: Index<VirtualMesh> = ({ spec }) => (spec?.meshes ?? []).flatMap(({ name }) => name ?? []);
const byMeshName: Index<IssuedCertificate> = ({ metadata }) => [metadata.name];

/** CRT1006. */
export const rootsDiffer = defineRule({
  code: "CRT1006",
  of: VirtualMesh,
  // Each is named as its Mesh.
  reads: { certificates: lookUp(IssuedCertificate, { key: meshNames, index: byMeshName }) },
  *find(_, { lookup }) {
    const certificates = lookup("certificates").filter(({ status }) => status?.inForce !== undefined);
    for (const callee of certificates) {
      for (const caller of certificates) {
        const unknown = (callee.status?.inForce?.signers ?? []).find((signer) => !(caller.status?.inForce?.trusted ?? []).includes(signer));
        if (unknown === undefined) continue;
        yield {
          field: "spec.meshes",
          message: `proxies of ${caller.metadata.name} do not trust root ${unknown.slice(0, SHOWN_DIGITS)} of ${callee.metadata.name}, so their calls fail`,
          remedy: { text: `see what the rotation waits for in ${formatRef(refOf(caller))}`, command: "meshctl cert list" },
        };
      }
    }
  },
});

const SHOWN_DIGITS = 12;
