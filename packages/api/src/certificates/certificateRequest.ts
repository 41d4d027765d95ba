import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { fields, oneOfWords } from "../shared/schema.ts";
import { workflowColumns, workflowFields } from "./workflow.ts";

/** An agent's request that the management server sign a certificate, for the IssuedCertificate of the same name. The key stays with the agent. */
export const CertificateRequest = defineKind({
  apiVersion: "certificates.mesh.gloo.solo.io/v1",
  kind: "CertificateRequest",
  plural: "certificaterequests",
  fields: {
    spec: fields({
      certificateSigningRequest: Type.String({ format: "byte", description: "PEM of a PKCS #10 request, base64." }),
    }),
    status: fields({
      ...workflowFields,
      state: oneOfWords(["PENDING", "FINISHED", "FAILED"]),
      signedCertificate: Type.String({ format: "byte", description: "PEM of the certificate, base64." }),
      signingRootCa: Type.String({ format: "byte", description: "PEM of the root that signed it, base64." }),
    }),
  },
  crd: {
    description: "Requests that the management server signs a certificate.",
    singular: "certificaterequest",
    categories: ["gloo-mesh"],
    printerColumns: workflowColumns,
  },
});
export type CertificateRequest = ReturnType<typeof CertificateRequest.parse>;
