import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { uint32, userFields } from "../shared/schema.ts";

/** When endpoints of a host that fails over count as failing. */
export const failureDetection = (description: string) =>
  userFields(
    {
      consecutiveErrors: uint32({ description: "Number of consecutive errors after which an endpoint is ejected. Default: 10." }),
      interval: duration({ description: "Interval between checks of whether ejected endpoints may return. Default: 5s." }),
      baseEjectionTime: duration({ description: "Minimum ejection time of an endpoint. Default: 120s." }),
      maxEjectionPercent: uint32({ description: "Maximum percentage of ejected endpoints. Default: 100.", maximum: 100 }),
    },
    { description },
  );

export type FailureDetection = Value<ReturnType<typeof failureDetection>>;
