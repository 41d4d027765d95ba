import { Type } from "@sinclair/typebox";
import { type SchemaOptions, uint32, userFields } from "./schema.ts";

/** How a certificate authority of an organization is made. */
export function certificateOptions(organization: string, options: SchemaOptions = {}) {
  return userFields(
    {
      ttlDays: uint32({ description: "Days until it expires. Default: 365." }),
      rsaKeySizeBytes: uint32({ description: "Size of the RSA key in bits, despite the name; at least 2048. Default: 4096." }),
      orgName: Type.String({ description: `Organization in the certificate. Default: \`${organization}\`.` }),
      secretRotationGracePeriodRatio: Type.Number({
        format: "float",
        minimum: 0,
        maximum: 1,
        description:
          "Remaining fraction of the lifetime at which a certificate is renewed: less than 1; above 0.9 like 0.9. Default: 0.10.",
      }),
    },
    options,
  );
}
