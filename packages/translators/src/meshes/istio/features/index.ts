import { connectionPoolSettings } from "./connectionPoolSettings.ts";
import { corsPolicy } from "./corsPolicy.ts";
import { csrf } from "./csrf.ts";
import { faultInjection } from "./faultInjection.ts";
import type { Feature, ReferringFeature } from "./feature.ts";
import { headerManipulation } from "./headerManipulation.ts";
import { mirror } from "./mirror.ts";
import { mtls } from "./mtls.ts";
import { outlierDetection } from "./outlierDetection.ts";
import { requestTimeout } from "./requestTimeout.ts";
import { retries } from "./retries.ts";
import { trafficShift } from "./trafficShift.ts";

/**
 * Every feature, one for each field of a TrafficPolicy that has an effect. They set different fields, so their order decides only in
 * which order findings are reported: as the API lists them.
 */
export const features: readonly (Feature | ReferringFeature)[] = [
  trafficShift,
  faultInjection,
  requestTimeout,
  retries,
  corsPolicy,
  mirror,
  headerManipulation,
  outlierDetection,
  connectionPoolSettings,
  mtls,
  csrf,
];
