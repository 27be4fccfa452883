import { millisecondsInSecond, secondsInMinute } from 'date-fns/constants';
import { type OperatorRejection, Rejected, type Rejection } from '../../../application/errors/rejected.ts';
import { WORKING_KEYS_MAX } from '../../../domain/access/project-key.ts';
import { BALANCE_IQD_MAX } from '../../../domain/billing/account.ts';
import { SCHEDULED_VERSIONS_MAX } from '../../../domain/billing/price-version.ts';
import {
  PARAMETER_BYTES_PER_CAMPAIGN_MAX,
  RECIPIENTS_PER_CAMPAIGN_MAX,
} from '../../../domain/campaigns/attach-recipients.ts';
import { UNSTARTED_CAMPAIGNS_MAX, UNSTARTED_RECIPIENTS_MAX } from '../../../domain/campaigns/campaign.ts';
import { SENDER_IDS_PER_PROJECT_MAX } from '../../../domain/senders/managed-sender-id.ts';
import type { Channel } from '../../../domain/shared/channel.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import type { ParameterRejection } from '../../../domain/whatsapp/template-parameters.ts';
import type { AdminErrorCode } from './admin-error-codes.ts';
import type { ErrorCode } from './error-codes.ts';
import { type HttpError, RequestRejected } from './http-error.ts';
import { ADDRESS_NOT_ALLOWED, OVERLOADED, UNAUTHORIZED } from './known-errors.ts';

/** What each channel carries, as the error of a message that it cannot carry says it. */
const CARRIES: Readonly<Record<Channel, string>> = {
  sms: 'sms carries codes and texts',
  whatsapp: 'whatsapp carries every message',
  telegram: 'telegram carries codes of 4 to 8 digits',
};

/** The error that a handler or use case threw to reject the request; null for a fault. */
export function httpErrorOf(thrown: unknown): HttpError | null {
  if (thrown instanceof RequestRejected) return thrown.error;
  if (thrown instanceof Rejected) return rejectionError(thrown.rejection);
  return null;
}

/**
 * Specification 7. The texts hold the words that published clients tell the cases apart by, and no text
 * holds a word that belongs to another case.
 */
export function rejectionError(rejection: Exclude<Rejection, OperatorRejection>): HttpError<ErrorCode>;
export function rejectionError(rejection: Rejection): HttpError;
export function rejectionError(rejection: Rejection): HttpError {
  switch (rejection.kind) {
    case 'unauthorized':
      return UNAUTHORIZED;
    case 'overloaded':
      return OVERLOADED;
    case 'ip-not-allowed':
      return ADDRESS_NOT_ALLOWED;
    case 'no-prices':
      return {
        status: 503,
        code: rejection.kind,
        text: 'The service has no price list yet: the operator has to import one',
        headers: ['Retry-After', '30'],
      };
    case 'message-not-found':
      return { status: 404, code: rejection.kind, text: 'SMS not found' };
    case 'idempotency-conflict':
      return {
        status: 409,
        code: rejection.kind,
        text: 'This Idempotency-Key was already used with another request',
      };
    case 'sender-id-not-found':
      return badRequest(rejection.kind, 'SenderID not found');
    case 'sender-id-not-accepted':
      return badRequest(rejection.kind, 'SenderID not yet accepted');
    case 'trial-mode':
      return badRequest(
        rejection.kind,
        'The account is in trial mode: until funds are added, only its own number may receive messages',
      );
    case 'webhook-url-refused':
      return badRequest(
        rejection.kind,
        `${rejection.field ?? 'deliveryReport.webhookUrl'} is an address that webhooks are not posted to: they go to public addresses, at port 443 or another one that the operator allows`,
      );
    case 'unsupported-content':
      return badRequest(
        rejection.kind,
        `The provider cannot carry this message: ${rejection.channels.map((channel) => CARRIES[channel]).join(', ')}`,
      );
    case 'channel-not-available':
      return badRequest(rejection.kind, `The channel ${rejection.channel} is not available to this project`);
    case 'unsupported-destination':
      return badRequest(
        rejection.kind,
        rejection.missing === 'price'
          ? 'Messages to this country are not supported'
          : 'No channel that carries this message is available to this project',
      );
    case 'test-number':
      return badRequest(rejection.kind, 'Test numbers work with sk_dev keys only');
    case 'whatsapp-account-not-found':
      return badRequest(rejection.kind, 'whatsappAccountId is not one of the project');
    case 'whatsapp-phone-not-found':
      return badRequest(
        rejection.kind,
        rejection.within === 'project'
          ? 'whatsappPhoneId is not one of the project'
          : 'whatsappPhoneId is not a number of whatsappAccountId',
      );
    case 'template-not-found':
      return badRequest(rejection.kind, 'Template not found');
    case 'template-not-approved':
      return badRequest(rejection.kind, 'Template not yet approved');
    case 'template-parameter-missing':
    case 'template-parameter-unknown':
    case 'template-parameter-no-url':
      return badRequest(rejection.kind, parameterText(rejection));
    case 'campaign-not-found':
      return { status: 404, code: rejection.kind, text: 'Campaign not found' };
    case 'campaign-template-not-found':
      return { status: 404, code: rejection.kind, text: 'Template not found' };
    case 'campaign-phone-not-found':
      return { status: 404, code: rejection.kind, text: 'Phone number not found' };
    case 'campaign-accounts-differ':
      return badRequest(rejection.kind, 'Template and phone number must belong to the same account');
    case 'campaign-category':
      return badRequest(rejection.kind, 'Campaigns send templates of the categories MARKETING and UTILITY');
    case 'campaign-not-editable':
      return badRequest(
        rejection.kind,
        'Only draft or scheduled campaigns can be updated, deleted, sampled, preflighted or given recipients',
      );
    case 'campaign-not-draft':
      return badRequest(
        rejection.kind,
        rejection.status === 'scheduled'
          ? 'This campaign is scheduled: set scheduleType to now to start it by hand'
          : 'Only draft campaigns can be started',
      );
    case 'campaign-without-recipients':
      return badRequest(rejection.kind, 'The campaign has no recipients');
    case 'scheduled-for-missing':
      return badRequest(rejection.kind, 'scheduledFor is required when scheduleType is schedule');
    case 'scheduled-for-unexpected':
      return badRequest(rejection.kind, 'scheduledFor needs scheduleType to be schedule');
    case 'scheduled-for-past':
      return badRequest(rejection.kind, 'scheduledFor must be in the future');
    case 'recipients-already-attached':
      return badRequest(rejection.kind, 'All these recipients are on the campaign already');
    case 'too-many-recipients':
      return badRequest(
        rejection.kind,
        `Recipients cannot exceed ${RECIPIENTS_PER_CAMPAIGN_MAX} per campaign`,
      );
    case 'recipients-too-large':
      return badRequest(
        rejection.kind,
        `templateParameters cannot exceed ${PARAMETER_BYTES_PER_CAMPAIGN_MAX / 1_024 ** 2} MB per campaign`,
      );
    case 'too-many-campaigns':
      return badRequest(
        rejection.kind,
        `Campaigns that have not started cannot exceed ${UNSTARTED_CAMPAIGNS_MAX} per project: start or delete some first`,
      );
    case 'too-many-unstarted-recipients':
      return badRequest(
        rejection.kind,
        `Recipients of campaigns that have not started cannot exceed ${UNSTARTED_RECIPIENTS_MAX} per project: start or delete some campaigns first`,
      );
    case 'unsupported-numbers':
      return badRequest(rejection.kind, 'Some phone numbers are in countries that are not supported', {
        unsupportedPhoneNumbers: rejection.phoneNumbers,
      });
    case 'recipient-parameters':
      return badRequest(
        rejection.kind,
        `Recipient ${rejection.phoneNumber}: ${parameterText(rejection.rejection)}`,
      );
    case 'rate-limited': {
      const { waitMinutes, maxRequests, timeWindowMinutes } = rejection;
      return {
        status: 429,
        code: rejection.kind,
        text: `Rate limit exceeded, please wait ${waitMinutes} ${waitMinutes === 1 ? 'minute' : 'minutes'}`,
        details: { waitMinutes, maxRequests, timeWindowMinutes },
        headers: ['Retry-After', String(waitMinutes * secondsInMinute)],
      };
    }
    case 'too-many-untried':
      return {
        status: 429,
        code: rejection.kind,
        text: 'Too many messages of this project have not been tried yet, try again shortly',
        headers: ['Retry-After', '1'],
      };
    case 'too-many-reports':
      return {
        status: 429,
        code: rejection.kind,
        text: 'Too many reports of this project were requested, try again later',
        headers: ['Retry-After', String(Math.ceil(rejection.retryAfterMs / millisecondsInSecond))],
      };
    case 'report-not-found':
      return { status: 404, code: rejection.kind, text: 'Report not found' };
    case 'report-gone':
      return {
        status: 410,
        code: rejection.kind,
        text: rejection.status === 'deleted' ? 'This report was deleted' : 'This report has expired',
      };
    case 'spending-threshold': {
      const spendingThreshold = toIqd(rejection.spendingThreshold);
      return badRequest(
        rejection.kind,
        `Project spending threshold of ${spendingThreshold} IQD would be exceeded`,
        { currentSpending: toIqd(rejection.currentSpending), spendingThreshold, cost: toIqd(rejection.cost) },
      );
    }
    case 'insufficient-credit':
      return badRequest(rejection.kind, 'Insufficient credit, please add more credit', {
        yourCredit: toIqd(rejection.yourCredit),
        requiredCredit: toIqd(rejection.requiredCredit),
        canCover: false,
      });
    case 'project-not-found':
      return { status: 404, code: rejection.kind, text: 'Project not found' };
    case 'key-not-found':
      return { status: 404, code: rejection.kind, text: 'API key not found' };
    case 'slug-taken':
      return conflict(rejection.kind, 'Another project has this slug');
    case 'project-archived':
      return conflict(rejection.kind, 'The project is archived: it gets no new API keys and sender IDs');
    case 'project-not-dev':
      return conflict(rejection.kind, 'Only the webhooks of a dev project can be listened to');
    case 'key-not-working':
      return conflict(rejection.kind, 'This API key is revoked or has ended: create a new one');
    case 'too-many-keys':
      return conflict(
        rejection.kind,
        `The project has ${WORKING_KEYS_MAX} API keys that work: revoke one first`,
      );
    case 'webhook-event-not-found':
      return { status: 404, code: rejection.kind, text: 'Webhook event not found' };
    case 'webhook-event-not-resendable':
      return conflict(
        rejection.kind,
        'This webhook event was delivered, is due already, has left the log or was replaced by a newer one',
      );
    case 'webhook-event-without-webhook':
      return conflict(
        rejection.kind,
        'The whatsapp number of this event has no inbound webhook: create one first',
      );
    case 'circuit-not-open':
      return conflict(rejection.kind, 'The circuit of this destination is closed');
    case 'whatsapp-resource-in-use':
      return conflict(
        rejection.kind,
        'The tree lacks resources that are in use: keep them, or end first what uses them',
        { inUse: rejection.inUse },
      );
    case 'balance-below-holds':
      return conflict(rejection.kind, 'The correction would leave less than is held', {
        balance: toIqd(rejection.balance),
        held: toIqd(rejection.held),
      });
    case 'balance-too-large':
      return conflict(
        rejection.kind,
        `The balance would be more than ${BALANCE_IQD_MAX.toLocaleString('en')} IQD above or below zero`,
      );
    case 'job-not-droppable':
      return conflict(
        rejection.kind,
        `A job of the kind ${rejection.jobKind} cannot be dropped, because what it ends would stay open: redrive it`,
      );
    case 'unknown-sender-id':
      return { status: 404, code: rejection.kind, text: 'The project has no such sender ID' };
    case 'sender-id-taken':
      return conflict(rejection.kind, 'The project has a sender ID of this name');
    case 'too-many-sender-ids':
      return conflict(
        rejection.kind,
        `The project has ${SENDER_IDS_PER_PROJECT_MAX} sender IDs: it gets no more`,
      );
    case 'phone-number-not-found':
      return { status: 404, code: rejection.kind, text: 'Whatsapp number not found' };
    case 'inbound-webhook-not-found':
      return { status: 404, code: rejection.kind, text: 'Inbound webhook not found' };
    case 'inbound-webhook-exists':
      return conflict(rejection.kind, 'This whatsapp number has an inbound webhook: change it instead');
    case 'secret-in-rotation':
      return conflict(
        rejection.kind,
        'The overlap of an earlier rotation goes on: wait for its end, or rotate with an overlap of 0 minutes',
      );
    case 'invalid-prices':
      return {
        status: 400,
        code: rejection.kind,
        text: 'The file of prices has mistakes',
        details: { errors: rejection.mistakes },
      };
    case 'incomplete-prices':
      return {
        status: 400,
        code: rejection.kind,
        text: 'The first price list needs sms, whatsapp and telegram: import it as JSON',
      };
    case 'effective-from-past':
      return { status: 400, code: rejection.kind, text: 'effectiveFrom must be in the future' };
    case 'too-many-scheduled-prices':
      return conflict(
        rejection.kind,
        `There are ${SCHEDULED_VERSIONS_MAX} versions that are not in force yet: withdraw one first`,
      );
    case 'preview-outdated':
      return conflict(
        rejection.kind,
        'This is not the preview of this import at the prices in force: preview the import again',
      );
    case 'unknown-price-version':
      return { status: 404, code: rejection.kind, text: 'Price version not found' };
    case 'prices-in-force':
      return conflict(rejection.kind, 'These prices are in force, or were: import others in place of them');
    default:
      return rejection satisfies never;
  }
}

function parameterText({ kind, path }: ParameterRejection): string {
  switch (kind) {
    case 'template-parameter-missing':
      return `${path} is required by the template`;
    case 'template-parameter-unknown':
      return `${path} is not a parameter of the template`;
    case 'template-parameter-no-url':
      return `${path} must be an http or https URL`;
    default:
      return kind satisfies never;
  }
}

function badRequest(code: ErrorCode, text: string, details?: HttpError['details']): HttpError {
  return details === undefined ? { status: 400, code, text } : { status: 400, code, text, details };
}

function conflict(code: AdminErrorCode, text: string, details?: HttpError['details']): HttpError {
  return details === undefined ? { status: 409, code, text } : { status: 409, code, text, details };
}
