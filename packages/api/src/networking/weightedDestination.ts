import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { headerManipulation } from "../shared/headerManipulation.ts";
import { userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, port, stringMap, uint32, userFields } from "../shared/schema.ts";

const subset = stringMap({ description: "Only endpoints whose pods have all of these labels." });

/** Where a share of the traffic goes. */
export const weightedDestination = userFields(
  {
    weight: uint32({ description: "Share of the traffic, relative to the other destinations; weights should add up to 100." }),
    kubeService: userFields(
      {
        name: Type.String({ description: "Name of the Service." }),
        namespace: Type.String({ description: "Namespace of the Service." }),
        clusterName: Type.String({ description: "Cluster of the Service; it may be another one than that of the policy's target." }),
        subset,
        port: port({ description: "Port of the Service. Needed when it has several." }),
      },
      { description: "A Kubernetes Service." },
    ),
    virtualDestination: userFields(
      { name: Type.String(), namespace: Type.String(), subset },
      { description: "A VirtualDestination: its host name and port are used." },
    ),
    staticDestination: userObjectRef({ description: "Not supported: a policy that sets it is refused." }),
    clusterHeader: Type.String({ description: "Not supported: a policy that sets it is refused." }),
    options: userFields({ headerManipulation }, { description: "What applies to this share of the traffic only." }),
  },
  {
    description: "One destination and its share of the traffic.",
    ...atMostOneOf("kubeService", "virtualDestination", "staticDestination", "clusterHeader"),
  },
);

export type WeightedDestination = Value<typeof weightedDestination>;
