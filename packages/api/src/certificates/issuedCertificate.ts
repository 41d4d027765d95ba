import { Type } from "@sinclair/typebox";
import { intermediateCertificateAuthority } from "../networking/trust.ts";
import { certificateOptions } from "../shared/certificateOptions.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { atMostOneOf, fields, oneOfWords, strings } from "../shared/schema.ts";
import { objectRef, workflowColumns, workflowFields } from "./workflow.ts";

const issuedCertificateSpec = fields(
  {
    hosts: strings({ description: "Subject alternative names: SPIFFE URIs, DNS names or IP addresses." }),
    org: Type.String({ description: "Deprecated: organisation in the certificate; certOptions.orgName wins." }),
    signingCertificateSecret: objectRef({ description: "Deprecated: glooMeshCa.signingCertificateSecret wins." }),
    issuedCertificateSecret: objectRef({
      description: "Secret of this cluster that gets the certificate. Absent: the control plane fetches it itself.",
    }),
    podBounceDirective: objectRef({ description: "Which pods restart once the certificate is there." }),
    certOptions: certificateOptions({ description: "How the certificate is made." }),
    glooMeshCa: fields(
      { signingCertificateSecret: objectRef({ description: "Secret of the management cluster with root-cert.pem and key.pem." }) },
      { description: "The management server signs." },
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
          "PENDING: no key yet. REQUESTED: waits for the signature. ISSUED: pods restart. FINISHED: in use. FAILED: will be tried again.",
      }),
    }),
  },
  crd: {
    description: "Asks the agent of a cluster to make a certificate authority for a mesh.",
    singular: "issuedcertificate",
    categories: ["gloo-mesh"],
    printerColumns: workflowColumns,
  },
});
export type IssuedCertificate = ReturnType<typeof IssuedCertificate.parse>;
