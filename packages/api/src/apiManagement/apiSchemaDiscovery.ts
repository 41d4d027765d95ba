import { Type } from "@sinclair/typebox";
import { conditionColumns, conditionStatus } from "../shared/approval.ts";
import { defineKind } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { fields, listOf, uint32, userFields } from "../shared/schema.ts";
import { servedBy } from "./servedBy.ts";

/** Where the OpenAPI document of an API is read in its cluster, by the agent. Source: the CRDs of Gloo Platform 2.x. */
export const ApiSchemaDiscovery = defineKind({
  apiVersion: "apimanagement.gloo.solo.io/v2",
  kind: "ApiSchemaDiscovery",
  plural: "apischemadiscoveries",
  fields: {
    spec: userFields(
      {
        openapi: userFields(
          {
            fetchEndpoint: userFields(
              {
                url: Type.String({
                  maxLength: 2048,
                  description:
                    "http or https URL of the document. Its host is a Service of the namespace of this object, and its port one of that Service. Required.",
                }),
                retryDelay: duration({ description: "Pause before the next attempt, from 1 s to 1 min. Default: 5s." }),
                pullAttempts: uint32({ description: "Attempts, from 1 to 10. Default: 3." }),
                useBackoff: Type.Boolean({ description: "Each pause is twice as long as the one before. Default: true." }),
              },
              { description: "Where the document is read." },
            ),
          },
          { description: "An OpenAPI document, version 2.0 or 3, as JSON or YAML." },
        ),
        servedBy: listOf(servedBy, {
          description: "Services that serve the API: of the namespace of this object. Empty: the Service of the URL.",
          maxItems: 64,
        }),
      },
      { description: "Where the schema of an API is read." },
    ),
    status: fields(conditionStatus("Condition SchemaRead: whether the document was read, or why not.")),
  },
  crd: {
    description:
      "Where the OpenAPI document of an API is read in its cluster. The agent writes what it reads into an ApiDoc of the same name.",
    shortNames: ["asd"],
    categories: ["gloo-mesh"],
    singular: "apischemadiscovery",
    printerColumns: conditionColumns("SchemaRead"),
  },
});

export type ApiSchemaDiscovery = ReturnType<typeof ApiSchemaDiscovery.parse>;
