import type { Metadata } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { foreignFields } from "./schema.ts";

const service = foreignFields({ namespace: Type.String(), name: Type.String() });
const webhook = foreignFields({ name: Type.String(), clientConfig: foreignFields({ service }) });
const webhooks = Type.Array(webhook);

/** One webhook: its name, and the Service that the API server calls. Without the Service: a URL. */
export type WebhookOfConfiguration = Value<typeof webhook>;

/**
 * Which Services see what users create, and may change it. Only who administers a cluster can write it, so no tenant says what it names: by it
 * the injector and the validator of a mesh vouch for the namespace of its control plane. Source: kubernetes.io, Dynamic Admission Control.
 */
export const MutatingWebhookConfiguration = defineKind(
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    namespaced: false,
    fields: { webhooks },
  },
  projected,
);
export type MutatingWebhookConfiguration = ReturnType<typeof MutatingWebhookConfiguration.parse>;

/** The same of Services that only refuse. */
export const ValidatingWebhookConfiguration = defineKind(
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    namespaced: false,
    fields: { webhooks },
  },
  projected,
);
export type ValidatingWebhookConfiguration = ReturnType<typeof ValidatingWebhookConfiguration.parse>;

// An object has few; whatever it has more is nothing to us.
const MOST_WEBHOOKS = 64;

/** No certificates, URLs, rules and selectors. */
function projected<R extends { readonly metadata: Metadata; readonly webhooks?: readonly WebhookOfConfiguration[] }>(configuration: R): R {
  const {
    metadata: { name, clusterName },
    webhooks: all = [],
  } = configuration;
  const { apiVersion, kind } = configuration as unknown as { readonly apiVersion: string; readonly kind: string };
  const kept = all.slice(0, MOST_WEBHOOKS).map(({ name: called, clientConfig: { service: of } = {} }) => ({
    ...(called === undefined ? {} : { name: called }),
    ...(of === undefined ? {} : { clientConfig: { service: { namespace: of.namespace ?? "", name: of.name ?? "" } } }),
  }));
  return { apiVersion, kind, metadata: { name, ...(clusterName === undefined ? {} : { clusterName }) }, webhooks: kept } as unknown as R;
}
