import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { stringMap, userFields } from "../shared/schema.ts";

/** A Service that serves an API, of the cluster and the namespace of the object that says so. */
export const servedBy = userFields(
  {
    destinationSelector: userFields(
      {
        selector: userFields(
          {
            name: Type.String({ description: "Name of the Service. Empty: any." }),
            namespace: Type.String({ description: "Its namespace. Empty: that of this object." }),
            cluster: Type.String({ description: "Its cluster. Empty: that of this object." }),
            labels: stringMap({ description: "Labels that the Service must have. Empty: any." }),
          },
          { description: "Selects a Service." },
        ),
      },
      { description: "Selects a Service." },
    ),
  },
  { description: "A Service that serves the API." },
);

/** A Service that serves an API. */
export type ServedBy = Value<typeof servedBy>;

/** Whether an object of this place may say that a Service serves its API: it speaks of Services of its own namespace and cluster alone. */
export function isServedFrom(
  { destinationSelector }: ServedBy,
  { namespace, clusterName }: { readonly namespace: string; readonly clusterName: string },
): boolean {
  const { namespace: place = "", cluster = "" } = destinationSelector?.selector ?? {};
  return (place === "" || place === namespace) && (cluster === "" || cluster === clusterName);
}
