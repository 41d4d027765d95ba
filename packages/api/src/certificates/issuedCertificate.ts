import { Type } from "@sinclair/typebox";
import { intermediateCertificateAuthority } from "../networking/trust.ts";
import { certificateOptions } from "../shared/certificateOptions.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { atMostOneOf, fields, listOf, oneOfWords, stringMap, strings, uint32 } from "../shared/schema.ts";
import { workflowColumns, workflowFields, workflowObjectRef } from "./workflow.ts";

const requestedTrust = fields(
  {
    step: oneOfWords(["TRUST_BOTH", "REISSUE", "RETIRE", "KEEP"], {
      description:
        "TRUST_BOTH: the new root is trusted beside the old one. REISSUE: certificates are signed below the new root. RETIRE: the old root is removed. KEEP: nothing changes.",
    }),
    rootCertificates: Type.String({ description: "Content of root-cert.pem, PEM." }),
    signer: Type.String({ description: "SHA-256 of the root of the certificate authority, hex." }),
    controlPlaneLabels: stringMap({ description: "Labels of the pods of the control plane." }),
    controlPlanes: listOf(
      fields({
        name: Type.String({ description: "Name of the Mesh." }),
        namespace: Type.String({ description: "Namespace of its pods." }),
        labels: stringMap({ description: "Labels of its pods." }),
      }),
      {
        description:
          "Istio's control planes in the cluster. Those in the namespace of issuedCertificateSecret read the same Secret, and restarts include only pods of their proxies.",
      },
    ),
    waitsFor: strings({ description: "Meshes that the next step waits for." }),
    isRenewable: Type.Boolean({
      description: "During TRUST_BOTH: the management server can still sign below the root of the present certificate authority.",
    }),
    reissue: Type.String({
      description: "On demand of a user: a certificate authority that was issued with another value is issued again.",
    }),
    leave: strings({
      description:
        "On demand of a user: workloads, as namespace/name, whose pods are neither restarted nor waited for in the change to this root.",
    }),
    problem: Type.String({ description: "Reason for which no root can be used." }),
    term: Type.String({ description: "Identifies this request, and the connection in which it was made." }),
  },
  { description: "The next step of the mesh towards the root of its VirtualMesh, as determined by the management server." },
);

/** The next step of a mesh towards the root of its VirtualMesh. */
export type RequestedTrust = Value<typeof requestedTrust>;

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
    certOptions: certificateOptions("Istio", { description: "Options of the certificate." }),
    glooMeshCa: fields(
      { signingCertificateSecret: workflowObjectRef({ description: "Secret in the management cluster with root-cert.pem and key.pem." }) },
      { description: "The management server signs the certificate." },
    ),
    agentCa: intermediateCertificateAuthority,
    trust: requestedTrust,
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
      requestSha256: Type.String({
        description:
          "In clusters that the management server connects to: SHA-256 of spec.certificateSigningRequest that the agent has written, hex.",
      }),
      reportedBy: Type.String({
        description: "In clusters that the management server connects to: the process of the agent, as its Lease names it.",
      }),
      state: oneOfWords(["PENDING", "REQUESTED", "ISSUED", "FINISHED", "FAILED"], {
        description:
          "PENDING: no key yet. REQUESTED: waiting for the signature. ISSUED: pods are being restarted. FINISHED: in use. FAILED: will be retried.",
      }),
      installed: fields(
        {
          rootCertificates: Type.String({ description: "Content of root-cert.pem, PEM." }),
          roots: strings({ description: "SHA-256 of each certificate in it, hex." }),
          signer: Type.String({ description: "SHA-256 of the root of the certificate authority, hex." }),
          notAfter: Type.String({ format: "date-time", description: "Time at which the certificate authority expires." }),
          certificate: Type.String({ description: "Certificate of the certificate authority, PEM." }),
        },
        { description: "What the control plane uses from its next start at the latest." },
      ),
      inForce: fields(
        {
          trusted: strings({ description: "SHA-256 of each root that every proxy trusts, hex." }),
          signers: strings({ description: "SHA-256 of each root that the certificate of a proxy may be signed below, hex." }),
        },
        { description: "What the proxies of the mesh use." },
      ),
      offered: fields(
        {
          rootCertificate: Type.String({ description: "Its root certificate, PEM." }),
          root: Type.String({ description: "SHA-256 of it, hex." }),
          problem: Type.String({ description: "Why it could not be read again since." }),
        },
        { description: "What the authority in agentCa offers, as the agent last read it." },
      ),
      isControlPlaneOutdated: Type.Boolean({ description: "The control plane has not read what is installed: it must be restarted." }),
      podsToRestart: strings({ description: "Pods that use earlier certificates, the first 20 as namespace/name." }),
      podsToRestartCount: uint32({ description: "Number of these pods." }),
      restart: Type.String({ description: "What the agent restarts now, or why it does not." }),
      left: strings({
        description: "Workloads in spec.trust.leave with pods that use earlier certificates, as namespace/name, until they are restarted.",
      }),
      restartsByRollout: Type.Boolean({
        description: "The agent restarts workloads by rollouts, where this is possible, not by evictions.",
      }),
      isMultiRoot: Type.Boolean({
        description:
          "All replicas of the control plane have ISTIO_MULTIROOT_MESH: they and their proxies take over a change of roots while they run.",
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
