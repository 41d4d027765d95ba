import { Type } from "@sinclair/typebox";
import { intermediateCertificateAuthority } from "../networking/trust.ts";
import { certificateOptions } from "../shared/certificateOptions.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { atMostOneOf, fields, oneOfWords, strings } from "../shared/schema.ts";
import { workflowColumns, workflowFields, workflowObjectRef } from "./workflow.ts";

const issuedCertificateSpec = fields(
  {
    hosts: strings({ description: "Subject alternative names: SPIFFE URIs, DNS names or IP addresses." }),
    org: Type.String({ description: "Deprecated: organization in the certificate; certOptions.orgName takes precedence." }),
    signingCertificateSecret: workflowObjectRef({ description: "Deprecated: glooMeshCa.signingCertificateSecret takes precedence." }),
    issuedCertificateSecret: workflowObjectRef({
      description:
        "Secret in this cluster that the certificate is written to. If omitted, the control plane fetches the certificate itself.",
    }),
    podBounceDirective: workflowObjectRef({ description: "Pods to restart after the certificate is issued." }),
    certOptions: certificateOptions({ description: "Options of the certificate." }),
    glooMeshCa: fields(
      { signingCertificateSecret: workflowObjectRef({ description: "Secret in the management cluster with root-cert.pem and key.pem." }) },
      { description: "The management server signs the certificate." },
    ),
    agentCa: intermediateCertificateAuthority,
  },
  { description: "A certificate authority for one mesh, signed by the VirtualMesh's root.", ...atMostOneOf("glooMeshCa", "agentCa") },
);

/** What a mesh's certificate authority is to be. */
export type IssuedCertificateSpec = Value<typeof issuedCertificateSpec>;

/** A request, written by the management server in a mesh's cluster, that its agent make and install a certificate authority. */
export const IssuedCertificate = defineKind({
  apiVersion: "certificates.mesh.gloo.solo.io/v1",
  kind: "IssuedCertificate",
  plural: "issuedcertificates",
  fields: {
    spec: issuedCertificateSpec,
    status: fields({
      ...workflowFields,
      state: oneOfWords(["PENDING", "REQUESTED", "ISSUED", "FINISHED", "FAILED"], {
        description:
          "PENDING: no key yet. REQUESTED: waiting for the signature. ISSUED: pods are being restarted. FINISHED: in use. FAILED: will be retried.",
      }),
    }),
  },
  crd: {
    description: "Requests that the agent of a cluster creates a certificate authority for a mesh.",
    singular: "issuedcertificate",
    categories: ["gloo-mesh"],
    printerColumns: workflowColumns,
  },
});
export type IssuedCertificate = ReturnType<typeof IssuedCertificate.parse>;
