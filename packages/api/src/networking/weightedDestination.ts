import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { headerManipulationSchema } from "../shared/headerManipulation.ts";
import { userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, port, stringMap, uint32, userFields } from "../shared/schema.ts";

const subset = stringMap({ description: "Only pods with all of these labels receive traffic. Empty: all pods." });

/** Where a share of the traffic goes. */
export const weightedDestination = userFields(
  {
    weight: uint32({ description: "Share of the traffic relative to the other destinations. Weights should add up to 100. Default: 0." }),
    kubeService: userFields(
      {
        name: Type.String({ description: "Name of the Service. Required." }),
        namespace: Type.String({ description: "Namespace of the Service. Required." }),
        clusterName: Type.String({
          description: "Cluster of the Service. May differ from the cluster of the selected destination. Required.",
        }),
        subset,
        port: port({ description: "Port of the Service. Required if the Service has several ports." }),
      },
      { description: "A Kubernetes Service. Required unless virtualDestination is set." },
    ),
    virtualDestination: userFields(
      {
        name: Type.String({ description: "Name of the VirtualDestination. Required." }),
        namespace: Type.String({ description: "Namespace of the VirtualDestination. Required." }),
        subset,
      },
      { description: "A VirtualDestination, whose host name and port are used. Required unless kubeService is set." },
    ),
    staticDestination: userObjectRef({ description: "Not supported: a policy that sets it is rejected." }),
    clusterHeader: Type.String({ description: "Not supported: a policy that sets it is rejected." }),
    options: userFields({ headerManipulation: headerManipulationSchema }, { description: "Options for this share of the traffic only." }),
  },
  {
    description: "One destination and its share of the traffic.",
    ...atMostOneOf("kubeService", "virtualDestination", "staticDestination", "clusterHeader"),
  },
);

export type WeightedDestination = Value<typeof weightedDestination>;
