import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";

/** The certificate authorities of meshes. */
export const signaturesCome: Check = {
  category: CATEGORIES.federation,
  description: "The certificate authority of no mesh waits for its signature",
  reads: ["virtualMeshes"],
  findings: ({ virtualMeshes, now }) =>
    virtualMeshes.flatMap((virtualMesh) =>
      Object.entries(virtualMesh.status?.meshes ?? {}).flatMap(([mesh, { trust }]): readonly CheckFinding[] => {
        const since = Date.parse(trust?.since ?? "");
        if (trust?.state !== "REQUESTED" || !(now - since > SIGNED_WITHIN_MS)) return [];
        const message = `${subjectName(virtualMesh)}: the certificate authority of Mesh ${meshName(mesh)} waits for its signature since ${new Date(since).toISOString()}`;
        return [
          {
            code: "CRT1005",
            severity: "warning",
            message,
            remedy: "meshctl cert list; the server says why it does not sign: meshctl logs",
          },
        ];
      }),
    ),
};

/** Of a key, which is `name.namespace.`: names may have dots. */
function meshName(key: string): string {
  const [namespace = "", ...name] = key.split(".").slice(0, -1).reverse();
  return `${namespace}/${name.reverse().join(".")}`;
}

/** A signature takes seconds. */
const SIGNED_WITHIN_MS = 5 * 60_000;
