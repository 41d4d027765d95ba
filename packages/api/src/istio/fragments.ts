import { Type } from "@sinclair/typebox";
import { fields, stringMap } from "../shared/schema.ts";

/** Google's duration as JSON has it: `5s`, `0.100s`. */
export const durationString = Type.String();

/** Percentage of requests, 0 to 100. */
export const percent = fields({ value: Type.Number() });

/** One of the members is set. Source: istio.io/docs/reference/config/networking/virtual-service/#StringMatch. */
export const istioStringMatch = fields({ exact: Type.String(), prefix: Type.String(), regex: Type.String() });

/** A port that a Gateway or ServiceEntry opens. */
export const servicePort = fields({ name: Type.String(), number: Type.Integer(), protocol: Type.String() });

/** Pods by their labels, in the object's namespace; from the root namespace, in every namespace. */
export const podSelector = fields({ matchLabels: stringMap() });
