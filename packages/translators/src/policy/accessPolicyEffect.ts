import { AccessPolicy, asSeems, type Destination, type DestinationSelector, lastAcceptedForm, readableSelectors } from "@isthmus/api";
import { equalJson } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { isRuleUnderstood, isSelectionUnderstood, misspeltSelector } from "./ineffective.ts";
import { selectsDestination } from "./selectors.ts";

/** A list of selectors as a policy has it; none selects every Destination. */
export type SelectorList = readonly DestinationSelector[] | undefined;

/** What stands for an AccessPolicy where it can't be in force as it is written. */
export interface AccessPolicyFallback {
  readonly policy: AccessPolicy;
  /** The policy as it was last in force; undefined: it never was on this Destination, and denies all callers. */
  readonly form: AccessPolicy | undefined;
}

/** On which Destinations an AccessPolicy bears, and in which form. */
export interface AccessPolicyEffect {
  /** Where it is in force as it is written, if it can be translated there; undefined: nowhere. */
  readonly written: { readonly selectors: SelectorList } | undefined;
  /** Where it is in force as it last was, when it can't be as it is written. */
  readonly last: { readonly selectors: SelectorList; readonly held: AccessPolicyFallback } | undefined;
  /** Whether `last` holds also where `written` does not: the policy is not right, and nobody has taken that off on purpose. */
  readonly isHolding: boolean;
  /** What it seems to be about, where it denies all callers unless another form is in force; undefined: nothing. */
  readonly closed: { readonly selectors: SelectorList; readonly held: AccessPolicyFallback } | undefined;
}

/**
 * Never opens by a mistake (docs/decisions/0037): what is sound is in force as it is written. What is not stays as it last was, and closes
 * what else it is about. `backing` puts Services in the place of VirtualDestinations. What never was in force, and of which only the selection is wrong, is in force on what it does select.
 */
export function accessPolicyEffect(
  policy: AccessPolicy,
  { isSound, backing }: { readonly isSound: boolean; readonly backing: (selectors: SelectorList) => SelectorList },
): AccessPolicyEffect {
  const form = lastForm(policy);
  const last = form === undefined ? undefined : { selectors: backing(form.spec?.destinationSelector), held: { policy, form } };
  const written = { selectors: backing(policy.spec?.destinationSelector) };
  if (isSound) return { written, last, isHolding: false, closed: undefined };
  const closed = { selectors: backing(closingSelectors(policy)), held: { policy, form: undefined } };
  // Where an entry of the selection is not understood, what it seems to be about denies all callers.
  const isAsWritten = form === undefined || equalJson(form.spec, { ...policy.spec, destinationSelector: written.selectors });
  if (isAsWritten && isRuleUnderstood(policy)) {
    return { written, last, isHolding: false, closed: isSelectionUnderstood(policy) ? undefined : closed };
  }
  return { written: undefined, last, isHolding: true, closed };
}

/** How an AccessPolicy bears on one Destination. */
export function effectOn(
  destination: Destination,
  { written, last, isHolding, closed }: AccessPolicyEffect,
): { readonly isWritten: boolean; readonly held: AccessPolicyFallback | undefined } {
  const isWritten = written !== undefined && selectsDestination(written.selectors, destination);
  const isLast = last !== undefined && (isWritten || isHolding) && selectsDestination(last.selectors, destination);
  if (isLast) return { isWritten, held: last.held };
  return { isWritten, held: closed !== undefined && selectsDestination(closed.selectors, destination) ? closed.held : undefined };
}

/** All selectors by which it may bear on a Destination. */
export function selectorsOf({ written, last, closed }: AccessPolicyEffect): readonly SelectorList[] {
  return [written, last, closed].flatMap((one) => (one === undefined ? [] : [one.selectors]));
}

/** Undefined where it is what the policy says now. */
const lastForm = memoizeRow((policy: AccessPolicy): AccessPolicy | undefined => {
  const form = lastAcceptedForm(policy);
  return form === undefined || equalJson(form.spec, policy.spec ?? {}) ? undefined : form;
});

/** What a policy that is not right seems to be about: a misspelt destinationSelector is no empty one, which would select everything. */
function closingSelectors(policy: AccessPolicy): SelectorList {
  const { destinationSelector } = policy.spec ?? {};
  const misspelt = misspeltSelector(policy);
  if (misspelt === undefined || (destinationSelector ?? []).length > 0) return seemingSelectors(destinationSelector);
  const entries = readableSelectors(asSeems(SELECTOR, misspelt.value));
  return entries.length === 0 ? [{}] : entries;
}

/** The same entries as their writer seems to mean them: a member that is not understood must not open what they are about. */
function seemingSelectors(entries: SelectorList): SelectorList {
  const seems = asSeems(SELECTOR, entries);
  if (entries === undefined || seems === entries) return entries;
  const readable = readableSelectors(seems);
  return readable.length === 0 ? entries : readable;
}

const SELECTOR = AccessPolicy.definition.fields.spec.properties.destinationSelector;
