import { CATEGORIES, type Check, subjectName } from "./check.ts";

/** Fields that still work, and for which there is a better one. */
export const fieldsAreCurrent: Check = {
  category: CATEGORIES.configuration,
  description: "No resource uses a deprecated field",
  reads: ["virtualMeshes", "settings"],
  findings: ({ virtualMeshes, settings }) => {
    const used = [
      ...virtualMeshes.flatMap((virtualMesh) =>
        virtualMesh.spec?.federation?.permissive === undefined
          ? []
          : [{ object: virtualMesh, field: "spec.federation.permissive", instead: "write spec.federation.selectors: [{}]" }],
      ),
      ...settings.flatMap((object) =>
        Object.keys(object.spec?.discovery?.istio?.ingressGatewayDetectors ?? {}).length === 0
          ? []
          : [
              {
                object,
                field: "spec.discovery.istio.ingressGatewayDetectors",
                instead: "set spec.federation.eastWestIngressGatewaySelectors of the VirtualMesh",
              },
            ],
      ),
    ];
    return used.map(({ object, field, instead }) => ({
      code: "UPG1002",
      severity: "warning",
      message: `${subjectName(object)}: ${field} is deprecated`,
      remedy: instead,
    }));
  },
};
