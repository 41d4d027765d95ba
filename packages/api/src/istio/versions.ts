/**
 * The versions in which istiod serves its networking kinds, the preferred one first. `v1` since Istio 1.22; all three have one
 * schema. Source: istio.io/latest/blog/2024/v1-apis.
 */
export const NETWORKING_VERSIONS = ["networking.istio.io/v1", "networking.istio.io/v1beta1", "networking.istio.io/v1alpha3"] as const;

/** The versions in which istiod serves its security kinds, the preferred one first. */
export const SECURITY_VERSIONS = ["security.istio.io/v1", "security.istio.io/v1beta1"] as const;
