/** The versions of what the Gateway API has in its standard channel, the preferred one first. Source: gateway-api.sigs.k8s.io/concepts/versioning. */
export const STANDARD_VERSIONS = ["gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1"] as const;

/** The versions of what comes from its experimental channel. */
export const EXPERIMENTAL_VERSIONS = [
  "gateway.networking.k8s.io/v1",
  "gateway.networking.k8s.io/v1alpha3",
  "gateway.networking.k8s.io/v1alpha2",
] as const;
