import {
  isSuccessStatus,
  isUnclearStatus,
  PROVIDER_RESPONSE_MEMBERS_MAX,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
} from '../../application/ports/provider-http.ts';
import type { RejectionClass } from '../../domain/providers/rejection-class.ts';
import { rejectedAs, type SubmitResult, unknownResult } from '../../domain/providers/submit-result.ts';
import { reasonMask } from '../../domain/shared/secret-mask.ts';
import { gatewayId, pointer, readJson, scalarText } from './document.ts';
import {
  areIdsOurs,
  type ErrorOptions,
  type ResponseFormat,
  type SuccessOptions,
} from './gateway-settings.ts';
import { LinearPattern } from './linear-pattern.ts';
import { type Mistake, orMistake } from './mistake.ts';
import type { Secrets } from './template.ts';

/** The members have the names of the channels file. */
export interface ResponseOptions {
  readonly reply: ResponseFormat;
  readonly success: SuccessOptions;
  readonly errors: readonly ErrorOptions[];
}

/** What a response means for the message that was sent. */
export type ResponseReader = (response: ProviderResponse, submissionId: string) => SubmitResult;

/** The ids that a response names; `isWhole` when there is at least one, and none that cannot be one. */
interface FoundIds {
  readonly ids: readonly string[];
  readonly isWhole: boolean;
}

interface ErrorRule {
  readonly holds: (status: number, document: unknown) => boolean;
  readonly class: RejectionClass;
  readonly detail: (document: unknown) => string | null;
}

/** More parts than any sms has. */
const IDS_MAX = 255;

/** Statuses with which a gateway does not take the credentials. */
export const CREDENTIALS_REJECTED: readonly number[] = [401, 403];

/**
 * What reads the responses; every mistake in the options goes to `mistake`, by its path in them. A gateway may repeat our own
 * request in its response: no reason quotes one of `secrets`.
 */
export function responseReader(
  { reply: format, success, errors }: ResponseOptions,
  secrets: Secrets,
  mistake: Mistake,
): ResponseReader {
  const masked = reasonMask(secrets.values());
  const read = documentReader(format, mistake);
  const rules = errors.flatMap((each, index) => errorRule(each, mistake, ['errors', index]) ?? []);
  const isTaken = successTest(success, mistake);
  const idsIn = idFinder(success, mistake);
  const isOurOwnId = areIdsOurs(success);

  return (response, submissionId) => {
    // Receipts come under an id of ours whatever became of the response.
    const knownIds = isOurOwnId ? [submissionId] : [];
    if (response.kind === 'not-sent')
      return rejectedAs('busy', `The gateway cannot be reached: ${response.reason}`);
    if (response.kind === 'limited') return rejectedAs('limited', response.reason);
    if (response.kind === 'unclear')
      return unknownResult(`The gateway did not respond: ${response.reason}`, knownIds);
    const { status } = response;
    const document = read(response.body);
    const rule = rules.find((each) => each.holds(status, document));
    if (rule !== undefined) {
      // A pattern may cut a text within a credential, and nobody could tell that it is one.
      const shown = format.format === 'json' ? document : read(masked(response.body.trim()));
      return rejectedBy(rule.class, `HTTP ${status}: ${masked(rule.detail(shown) ?? 'no reason')}`);
    }
    if (isTaken(status, document)) {
      const { ids, isWhole } = idsIn(document, submissionId);
      return isWhole
        ? { kind: 'accepted', providerMessageIds: ids }
        : unknownResult(`The gateway responded with HTTP ${status}, and not every id can be read`, ids);
    }
    return byStatus(status, document === undefined, knownIds);
  };
}

function documentReader(format: ResponseFormat, mistake: Mistake): (body: string) => unknown {
  if (format.format === 'json') return (body) => readJson(body, PROVIDER_RESPONSE_MEMBERS_MAX);
  const pattern = orMistake(mistake, ['reply', 'pattern'], () => new LinearPattern(format.pattern));
  if (pattern === null) return () => undefined;
  return (body) => pattern.groupsIn(body.trim()) ?? undefined;
}

function successTest(
  { status, path, values }: SuccessOptions,
  mistake: Mistake,
): (status: number, document: unknown) => boolean {
  const find = path === undefined ? null : orMistake(mistake, ['success', 'path'], () => pointer(path));
  if (path === undefined && values !== undefined) mistake(['success', 'values'], 'needs a path');
  const allowed = values?.map(String);
  return (given, document) => {
    if (status === undefined ? !isSuccessStatus(given) : !status.includes(given)) return false;
    if (document === undefined) return false;
    if (find === null) return true;
    const value = scalarText(find(document));
    return value !== null && (allowed === undefined || allowed.includes(value));
  };
}

function idFinder(
  { id, ids }: SuccessOptions,
  mistake: Mistake,
): (document: unknown, submissionId: string) => FoundIds {
  if (id !== undefined && ids !== undefined) mistake(['success'], 'has id or ids, and not both');
  if (id !== undefined) {
    const find = orMistake(mistake, ['success', 'id'], () => pointer(id));
    return (document) => foundIds([find?.(document)]);
  }
  if (ids === undefined) return (_, submissionId) => ({ ids: [submissionId], isWhole: true });
  if ('separator' in ids) {
    const find = orMistake(mistake, ['success', 'ids', 'path'], () => pointer(ids.path));
    return (document) =>
      foundIds(
        (scalarText(find?.(document)) ?? '').split(ids.separator).filter((each) => each.trim() !== ''),
      );
  }
  const items = orMistake(mistake, ['success', 'ids', 'items'], () => pointer(ids.items));
  const each = ids.id;
  const idOf =
    each === undefined
      ? (item: unknown) => item
      : (orMistake(mistake, ['success', 'ids', 'id'], () => pointer(each)) ?? (() => undefined));
  return (document) => {
    const list = items?.(document);
    return foundIds(Array.isArray(list) ? list.map(idOf) : []);
  };
}

function foundIds(values: readonly unknown[]): FoundIds {
  const ids = values.slice(0, IDS_MAX).map(gatewayId);
  const readable = ids.filter((id) => id !== null);
  return {
    ids: [...new Set(readable)],
    isWhole: readable.length > 0 && readable.length === values.length,
  };
}

function errorRule(options: ErrorOptions, mistake: Mistake, at: readonly PropertyKey[]): ErrorRule | null {
  const { status, path, equals, matches, reason } = options;
  if (status === undefined && path === undefined) mistake(at, 'needs a status or a path');
  if (path === undefined && (equals !== undefined || matches !== undefined)) {
    mistake(at, 'compares nothing without a path');
  }
  const find = path === undefined ? null : orMistake(mistake, [...at, 'path'], () => pointer(path));
  const pattern =
    matches === undefined ? null : orMistake(mistake, [...at, 'matches'], () => new LinearPattern(matches));
  const findReason =
    reason === undefined ? null : orMistake(mistake, [...at, 'reason'], () => pointer(reason));
  const statuses = status === undefined ? null : [status].flat();
  const values = equals === undefined ? null : [equals].flat().map(String);
  return {
    class: options.class,
    holds(given, document) {
      if (statuses !== null && !statuses.includes(given)) return false;
      if (find === null) return true;
      const found: unknown = find(document);
      const value = scalarText(found);
      if (values !== null || pattern !== null) {
        if (value === null) return false;
        if (values !== null && !values.includes(value)) return false;
        return pattern === null || pattern.isIn(value);
      }
      return found !== undefined && found !== null;
    },
    detail: (document) => scalarText(findReason?.(document)) ?? scalarText(find?.(document)),
  };
}

/** What a response means that neither `errors` nor `success` knows. */
function byStatus(status: number, isUnreadable: boolean, knownIds: readonly string[]): SubmitResult {
  if (status === TOO_MANY_REQUESTS)
    return rejectedAs('throttled', `The gateway takes no more for now: HTTP ${status}`);
  if (CREDENTIALS_REJECTED.includes(status))
    return rejectedAs('busy', `The gateway rejects the credentials: HTTP ${status}`);
  if (status >= 400 && !isUnclearStatus(status)) return rejectedBy('message', `HTTP ${status}`);
  return unknownResult(
    isUnreadable
      ? `The gateway's response with HTTP ${status} cannot be read`
      : `The gateway's response with HTTP ${status} is neither a success nor a known error`,
    knownIds,
  );
}

/** What stands before the gateway's own reason. */
const REJECTION_WORDS: Readonly<Record<RejectionClass, string>> = {
  busy: 'The gateway takes nothing now',
  throttled: 'The gateway takes no more for now',
  limited: 'The gateway takes no more from this sender or to this number now',
  sender: 'The gateway rejects the sender',
  message: 'The gateway rejects the message',
  'ends-chain': 'The gateway rejects the recipient',
};

function rejectedBy(about: RejectionClass, detail: string): SubmitResult {
  return rejectedAs(about, `${REJECTION_WORDS[about]}: ${detail}`);
}
