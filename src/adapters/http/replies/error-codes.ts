import { millisecondsInSecond } from 'date-fns/constants';
import { UNTRIED_MESSAGES_MAX } from '../../../application/sending/untried-messages.ts';
import {
  PARAMETER_BYTES_PER_CAMPAIGN_MAX,
  RECIPIENTS_PER_CAMPAIGN_MAX,
} from '../../../domain/campaigns/attach-recipients.ts';
import { UNSTARTED_CAMPAIGNS_MAX, UNSTARTED_RECIPIENTS_MAX } from '../../../domain/campaigns/campaign.ts';
import {
  REPORTS_PER_DAY_MAX,
  STORED_RECORDS_MAX,
  UNMADE_REPORTS_MAX,
} from '../../../domain/reports/report.ts';
import { JSON_DEPTH_MAX } from '../../../domain/shared/json-text.ts';
import { BODY_BYTES_MAX, IDEMPOTENCY_KEY_CHARACTERS_MAX, RECIPIENT_BODY_BYTES_MAX } from '../limits.ts';
import { SERVER_LIMITS } from '../server-limits.ts';

const BYTES_PER_KB = 1_024;

/**
 * Every word that X-Error-Code can hold in replies to customers, by status, with what it means. The table of docs/api.md
 * section 7 says the same; a word is never renamed.
 */
const MEANINGS = {
  'validation-failed': 'the request does not have the shape of its endpoint',
  'malformed-json': 'the body is not JSON',
  'invalid-encoding': 'the body is not UTF-8',
  'nested-too-deep': `the JSON nests deeper than ${JSON_DEPTH_MAX} levels`,
  'invalid-idempotency-key': `the key is not 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`,
  'unknown-fields':
    'a field that does not exist, or belongs to another `smsType`, in a request with `Prefer: handling=strict`',
  'webhook-url-refused': '`webhookUrl` can never be reached, see webhooks',
  'unsupported-content': 'no channel of the chain can carry the message',
  'channel-not-available':
    'the request names a channel that has no provider for the project; a campaign starts, and whatsapp has none',
  'unsupported-destination':
    'a channel of a named chain has no price for this country, or none that `auto` would use has one; or `auto` finds no channel with a provider',
  'test-number': 'a live key and a test number',
  'whatsapp-account-not-found': 'the project has no account of this id',
  'whatsapp-phone-not-found': 'the account, or the project, has no number of this id',
  'template-not-found': 'the account has no template of this name',
  'template-not-approved': 'the template is not approved',
  'template-parameter-missing': 'a placeholder has no value',
  'template-parameter-unknown': 'the template does not have the parameter',
  'template-parameter-no-url': 'header media is no http or https URL',
  'campaign-accounts-differ': 'the number belongs to another account than the template',
  'campaign-category': 'a template for codes',
  'campaign-not-editable': 'the campaign is neither `draft` nor `scheduled` any more',
  'campaign-not-draft': 'a start of a campaign that is no draft',
  'campaign-without-recipients': 'a start without recipients',
  'scheduled-for-missing': '`schedule` without a time',
  'scheduled-for-unexpected': 'a time without `schedule`',
  'scheduled-for-past': 'a time that is not in the future',
  'recipients-already-attached': 'every number of the request is on the campaign',
  'too-many-recipients': `the campaign would have more than ${RECIPIENTS_PER_CAMPAIGN_MAX.toLocaleString('en')} recipients`,
  'recipients-too-large': `the \`templateParameters\` of all recipients on the campaign would have more than ${PARAMETER_BYTES_PER_CAMPAIGN_MAX / BYTES_PER_KB ** 2} MB`,
  'too-many-campaigns': `the project has ${UNSTARTED_CAMPAIGNS_MAX.toLocaleString('en')} campaigns that have not started`,
  'too-many-unstarted-recipients': `the campaigns of the project that have not started would have more than about ${UNSTARTED_RECIPIENTS_MAX.toLocaleString('en')} recipients`,
  'unsupported-numbers':
    'numbers of countries without an entry in the price list, or test numbers of a live project',
  'recipient-parameters': 'the parameters of a recipient do not fit the template',
  'sender-id-not-found': 'the project has no such sender ID',
  'sender-id-not-accepted': 'it is not accepted',
  'trial-mode': 'a project in trial and another number than its own',
  'spending-threshold': 'the cost would exceed the threshold',
  'insufficient-credit': 'the credit is lower than the cost',
  'malformed-request':
    'the request is no valid HTTP, has several `Host` headers, or a body in another transfer coding than `chunked` of HTTP/1.1',
  unauthorized: 'the key is missing or wrong',
  'ip-not-allowed': "the address is not on the project's list",
  'message-not-found': 'no message of the project has this id',
  'campaign-not-found': 'no campaign of the project has this id',
  'campaign-template-not-found': 'no template of the project has this id',
  'campaign-phone-not-found': 'no whatsapp number of the project has this id',
  'report-not-found': 'no report has this file, or it is still being made',
  'not-found': 'no such path',
  'method-not-allowed': 'the path does not have the method',
  'request-timeout': `the request did not arrive within ${SERVER_LIMITS.requestTimeoutMs / millisecondsInSecond} seconds`,
  'idempotency-conflict': 'the `Idempotency-Key` was used with another request',
  'report-gone': 'the report is expired or deleted',
  'body-too-large': `the body has more than ${BODY_BYTES_MAX / BYTES_PER_KB} kB, or more than ${RECIPIENT_BODY_BYTES_MAX / BYTES_PER_KB ** 2} MB with a list of recipients`,
  'unsupported-media-type': 'the body is not JSON in UTF-8, or is compressed',
  'expectation-failed': 'another `Expect` than `100-continue`',
  'rate-limited': 'too many sends to one phone number, or from one address',
  'too-many-untried': `about ${UNTRIED_MESSAGES_MAX.toLocaleString('en')} accepted messages of the project have not been tried yet`,
  'too-many-reports': `${UNMADE_REPORTS_MAX} reports of the project are still to be made, or ${REPORTS_PER_DAY_MAX} were requested in 24 hours, or its files have ${STORED_RECORDS_MAX.toLocaleString('en')} messages`,
  'headers-too-large': `the headers have more than ${SERVER_LIMITS.headerBytesMax / BYTES_PER_KB} kB or ${SERVER_LIMITS.headerLinesMax} lines`,
  'internal-error': 'a fault of the service; the log has the `X-Request-Id`',
  'resources-failed': 'the same, of 4.8',
  'no-prices': 'the service has no price list yet; the operator has to import one',
  overloaded:
    'more requests than the process serves at a time, or than a connection may have without a reply; or a list of recipients that arrives slowly while others wait',
  'not-ready': 'GET /readyz: a critical dependency is away',
} as const;

export type ErrorCode = keyof typeof MEANINGS;

export const ERROR_CODE_MEANINGS: Readonly<Record<ErrorCode, string>> = MEANINGS;

export const ERROR_CODES = Object.keys(MEANINGS) as readonly ErrorCode[];
