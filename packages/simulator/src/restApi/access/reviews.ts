import { type Members, membersAt } from "../../apply/json.ts";
import type { SimulatedState } from "../../state.ts";
import { type FieldError, invalidError, notFoundError } from "../apiError.ts";
import { invalid } from "../fieldErrors.ts";
import type { ResourceRequest } from "../requestInfo.ts";
import type { ApiResource } from "../resourceTable.ts";
import { type Attributes, authorized, reviewedRules } from "./rbac.ts";
import { ISSUER, type Tokens, type User } from "./users.ts";

export interface Reviewing {
  readonly state: SimulatedState;
  readonly user: User;
  readonly tokens: Tokens;
  readonly target: ResourceRequest;
}

/** The kinds that are asked and never stored: reviews of tokens and of access. Undefined for any other kind. Throws ApiError. */
export function reviewed(resource: ApiResource, body: Members, { state, user, tokens, target }: Reviewing): Members | undefined {
  const spec = membersAt(body, "spec");
  switch (`${resource.group}/${resource.kind}`) {
    case "authentication.k8s.io/TokenReview": {
      const found = tokens.userOf(String(spec["token"] ?? ""), state.clock.now());
      const status =
        found === undefined
          ? { user: {}, error: "invalid bearer token" }
          : { authenticated: true, user: userInfo(found), audiences: [ISSUER] };
      return { ...body, status };
    }
    case "authentication.k8s.io/SelfSubjectReview":
      return { ...body, metadata: { ...membersAt(body, "metadata"), creationTimestamp: state.now }, status: { userInfo: userInfo(user) } };
    case "authorization.k8s.io/SelfSubjectAccessReview":
      return { ...body, status: decided(state, user, attributesIn(resource, spec)) };
    case "authorization.k8s.io/SubjectAccessReview":
    case "authorization.k8s.io/LocalSubjectAccessReview": {
      const groups = Array.isArray(spec["groups"]) ? spec["groups"].map(String) : [];
      const asked = attributesIn(resource, spec);
      const subject = { name: String(spec["user"] ?? ""), uid: "", groups };
      return {
        ...body,
        status: decided(state, subject, { ...asked, namespace: target.namespace === "" ? asked.namespace : target.namespace }),
      };
    }
    case "authorization.k8s.io/SelfSubjectRulesReview":
      return {
        ...body,
        metadata: {},
        spec: {},
        status: { ...reviewedRules(state, user, String(spec["namespace"] ?? "")), incomplete: false },
      };
    default:
      return undefined;
  }
}

function userInfo({ name, uid, groups }: User): Members {
  return { username: name, ...(uid === "" ? {} : { uid }), groups };
}

function decided(state: SimulatedState, user: User, asked: Attributes): Members {
  const { allowed, reason } = authorized(state, user, asked);
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function attributesIn(resource: ApiResource, spec: Members): Attributes {
  const asked = membersAt(spec, "resourceAttributes");
  const url = membersAt(spec, "nonResourceAttributes");
  const errors: FieldError[] = [];
  const [hasResource, hasUrl] = [Object.keys(asked).length > 0, Object.keys(url).length > 0];
  if (hasResource === hasUrl)
    errors.push(invalid("spec.resourceAttributes", null, "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  if (errors.length > 0) throw invalidError({ group: resource.group, kind: "" }, "", errors);
  const text = (name: string) => String((hasUrl ? url : asked)[name] ?? "");
  return {
    verb: text("verb"),
    group: text("group"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
    path: hasUrl ? text("path") : undefined,
  };
}

/** A token of a ServiceAccount, as `serviceaccounts/token` gives it. Throws ApiError. */
export function requestedToken(body: Members, { state, tokens, target }: Reviewing): Members {
  const account = state.find({ apiVersion: "v1", kind: "ServiceAccount", namespace: target.namespace, name: target.name });
  if (account === undefined) throw notFoundError({ group: "", plural: "serviceaccounts" }, target.name);
  const spec = membersAt(body, "spec");
  const seconds = typeof spec["expirationSeconds"] === "number" ? spec["expirationSeconds"] : 3600;
  const type = { group: "authentication.k8s.io", kind: "TokenRequest" };
  if (seconds < 600)
    throw invalidError(type, "", [invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")]);
  if (seconds > 2 ** 32)
    throw invalidError(type, target.name, [
      invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"),
    ]);
  const given = Array.isArray(spec["audiences"]) ? spec["audiences"].map(String) : [];
  const audiences = given.length === 0 ? [ISSUER] : given;
  const now = state.clock.now();
  const token = tokens.issue(
    { namespace: target.namespace, name: target.name, uid: account.metadata.uid ?? "", audiences, expirationSeconds: seconds },
    now,
  );
  const expirationTimestamp = `${new Date(now + seconds * 1000).toISOString().slice(0, 19)}Z`;
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: target.name, namespace: target.namespace, uid: account.metadata.uid, creationTimestamp: state.now },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token, expirationTimestamp },
  };
}
