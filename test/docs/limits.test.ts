import { describe, expect, it } from 'vitest';
import { HEADER_LINES_MAX } from '../../src/adapters/egress/header-lines.ts';
import { PROVIDER_RESPONSES_MS_MAX } from '../../src/adapters/egress/providers/response-rounds.ts';
import {
  PROVIDER_CONNECTIONS_MAX,
  PROVIDER_REQUESTS_MAX,
} from '../../src/adapters/egress/providers/undici-provider-http.ts';
import {
  HANDSHAKE_BYTES_MAX,
  HANDSHAKE_FREE_MS,
  RESPONSE_BYTES_MAX,
  RESPONSE_FREE_MS,
} from '../../src/adapters/egress/tls/peer-stream.ts';
import { PEER_ROUND_MS, PROVIDER_SHARES, RECEIVER_SHARES } from '../../src/adapters/egress/tls/peer-time.ts';
import { IDLE_CONNECTIONS_MAX } from '../../src/adapters/egress/webhooks/receiver-connections.ts';
import {
  BODY_BYTES_MAX,
  CALLBACK_BODIES_BYTES_MAX,
  CALLBACK_BYTES_MAX,
  CAMPAIGN_LIMIT_DEFAULT,
  CAMPAIGN_LIMIT_MAX,
  CAMPAIGN_PAGE_MAX,
  DOCS_FILES_MAX,
  DOCS_FILES_PER_ADDRESS_MAX,
  IDEMPOTENCY_KEY_CHARACTERS_MAX,
  JSON_LIST_ITEMS_MAX,
  JSON_MEMBERS_MAX,
  JSON_OBJECT_MEMBERS_MAX,
  PRICING_LIMIT_DEFAULT,
  PRICING_LIMIT_MAX,
  PRICING_PAGE_MAX,
  PROJECT_REQUESTS_MAX,
  PROJECT_REQUESTS_PER_PROJECT_MAX,
  RECIPIENT_BODIES_MAX,
  RECIPIENT_BODIES_PER_PROJECT_MAX,
  RECIPIENT_BODY_BYTES_MAX,
  RECIPIENT_BODY_MEMBERS_MAX,
  RECIPIENT_LIMIT_DEFAULT,
  RECIPIENT_LIMIT_MAX,
  RECIPIENTS_PER_REQUEST_MAX,
  REPORT_DOWNLOADS_MAX,
  REPORT_DOWNLOADS_PER_ADDRESS_MAX,
  REPORT_DOWNLOADS_PER_PROJECT_MAX,
  REPORT_LIMIT_DEFAULT,
  REPORT_LIMIT_MAX,
  REPORT_LINKS_MAX,
  REPORT_LINKS_PER_ADDRESS_MAX,
  REPORT_PAGE_MAX,
  REPORT_PHONE_NUMBER_CHARACTERS_MAX,
  REPORT_PHONE_NUMBERS_MAX,
  SLOW_BODY_MS,
  SMALL_BODY_BYTES_MAX,
  TEMPLATE_PARAMETER_CHARACTERS_MAX,
  UNREAD_BODY_BYTES_KEPT,
  UNSENT_REPLY_COUNTED_MS,
} from '../../src/adapters/http/limits.ts';
import { REQUEST_PIECES, ROUND_PIECES } from '../../src/adapters/http/server/connections/gathered-pieces.ts';
import { KNOWN_KEYS_MAX } from '../../src/adapters/http/server/known-keys.ts';
import {
  ACCEPTING_MS,
  BACKLOG_ROUND_MS,
  BACKLOG_WORK_MS,
  BODIES_MS_MAX,
  BODIES_READ_PER_ROUND,
  CONNECTIONS_READ_PER_MS,
  CONNECTIONS_READ_PER_ROUND,
  FAST_CONNECTIONS,
  FAST_CONNECTIONS_MS,
  LARGE_BODIES_SHARE,
  LISTEN_BACKLOG_MAX,
  PIPELINED_REQUEST_LINES,
  READING_BODIES_SHARE,
  READING_CLIENTS_MS_MAX,
  SERVER_LIMITS,
  WAITING_REQUESTS_MS_MAX,
} from '../../src/adapters/http/server-limits.ts';
import { PARSED_TREES_CHARACTERS_MAX } from '../../src/adapters/knex/parsed-trees.ts';
import { MEMORY_QUEUE_JOBS_MAX } from '../../src/adapters/memory/job-queue.ts';
import { LOG_WAITING_BYTES_MAX } from '../../src/adapters/pino/log-output.ts';
import { READY_JOBS_MAX } from '../../src/adapters/rabbitmq/job-queue.ts';
import { BUCKET_RESPONSE_BYTES_MAX } from '../../src/adapters/s3/bounded-responses.ts';
import { READING_MS_MAX } from '../../src/adapters/smpp/smpp-provider.ts';
import {
  UNKNOWN_KEY_QUERIES_MAX,
  UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX,
} from '../../src/application/access/project-keys.ts';
import {
  BACKLOG_SHARE,
  SUBMISSIONS_IN_FLIGHT_MAX,
} from '../../src/application/attempts/submission-capacity.ts';
import { START_WAIT_MS } from '../../src/application/attempts/waiting-starts.ts';
import { BATCH_ITEMS_MAX } from '../../src/application/batching/batch-queue.ts';
import { RESPONSE_PIECES } from '../../src/application/body-pieces.ts';
import {
  CAMPAIGN_REQUESTS_MAX,
  CAMPAIGN_REQUESTS_PER_PROJECT_MAX,
} from '../../src/application/campaigns/campaign-gate.ts';
import {
  CAMPAIGN_JOBS_MAX,
  CAMPAIGN_JOBS_PER_PROJECT_MAX,
} from '../../src/application/campaigns/run-campaign-jobs.ts';
import { PAUSE_FACTOR, WORK_FREE_MS } from '../../src/application/concurrency/event-loop-share.ts';
import {
  PROJECT_JOBS_HELD_MAX,
  PROJECT_JOBS_HELD_PER_PROJECT_MAX,
} from '../../src/application/jobs/project-job-runner.ts';
import { WORKER_SEEN_MS } from '../../src/application/jobs/worker-heartbeat.ts';
import {
  LEASES_TRUSTED_MS,
  MISSED_HEARTBEATS_MAX,
  WORKER_HEARTBEAT_MS,
} from '../../src/application/jobs/worker-watch.ts';
import { PROVIDER_WAIT_MS } from '../../src/application/ports/channel-provider.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  PROVIDER_RESPONSE_MEMBERS_MAX,
} from '../../src/application/ports/provider-http.ts';
import { THROTTLED_MS } from '../../src/application/providers/throttled-rates.ts';
import { REPORT_JOB_LIMITS } from '../../src/application/reports/make-reports.ts';
import {
  REPORTS_REQUESTED_MAX,
  REPORTS_REQUESTED_PER_PROJECT_MAX,
} from '../../src/application/reports/request-reports.ts';
import { INBOUND_STORED_AT_ONCE_MAX } from '../../src/application/webhooks/accept-inbound.ts';
import {
  DELIVERY_ATTEMPT_TIMEOUT_MS,
  DELIVERY_LIMITS,
} from '../../src/application/webhooks/delivery-limits.ts';
import { ATTEMPTS_PER_KEPT } from '../../src/application/webhooks/fair-limit.ts';
import {
  SURPLUS_DELAY_MAX_MS,
  SURPLUS_DELAY_MS,
  SURPLUS_JOBS_MIN,
  SURPLUS_JOBS_TOGETHER,
} from '../../src/application/webhooks/surplus-line.ts';
import {
  PARAMETER_BYTES_PER_CAMPAIGN_MAX,
  RECIPIENTS_PER_CAMPAIGN_MAX,
} from '../../src/domain/campaigns/attach-recipients.ts';
import {
  CAMPAIGN_NAME_CHARACTERS_MAX,
  CAMPAIGN_NAME_CHARACTERS_MIN,
  UNSTARTED_CAMPAIGNS_MAX,
  UNSTARTED_RECIPIENTS_MAX,
} from '../../src/domain/campaigns/campaign.ts';
import { FAST_MESSAGES_PER_SECOND, MESSAGES_PER_SECOND } from '../../src/domain/campaigns/sending-rate.ts';
import { ATTEMPT_GRACE_MS } from '../../src/domain/chain/attempt-deadline.ts';
import { LEASE_MS, RENEW_EVERY_MS } from '../../src/domain/jobs/job.ts';
import {
  CUSTOM_MESSAGE_CHARACTERS_MAX,
  SENDER_ID_CHARACTERS_MAX,
  VERIFICATION_CODE_CHARACTERS_MAX,
} from '../../src/domain/messages/send-request.ts';
import { KEPT_SHARE } from '../../src/domain/providers/send-rate.ts';
import {
  FRESH_MS,
  LATENCY_REMEMBERED_MS,
  PLACES_PER_KEPT,
  SLOW_AFTER_MS,
} from '../../src/domain/providers/submission-share.ts';
import { SUBMIT_TIMEOUT_MS } from '../../src/domain/providers/submit-result.ts';
import {
  HANDED_OVER_PERIOD_MS,
  WAITING_IN_ALL_MIN,
  WAITING_MIN,
  WAITING_SHARE,
} from '../../src/domain/providers/waiting-limits.ts';
import { DEFAULT_RATE_LIMIT } from '../../src/domain/rate-limiting/rate-limiter.ts';
import {
  REPORT_LIFETIME_DAYS,
  REPORTS_PER_DAY_MAX,
  STORED_RECORDS_MAX,
  UNMADE_REPORTS_MAX,
} from '../../src/domain/reports/report.ts';
import { JSON_DEPTH_MAX } from '../../src/domain/shared/json-text.ts';
import { PHONE_NUMBER_DIGITS_MAX, PHONE_NUMBER_DIGITS_MIN } from '../../src/domain/shared/phone-number.ts';
import { DELIVERY_RETRIES_MAX, plannedDeliveryDelayMs } from '../../src/domain/webhooks/retry-schedule.ts';
import {
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_URL_CHARACTERS_MAX,
} from '../../src/domain/webhooks/webhook-limits.ts';
import { TEMPLATE_PARAMETERS_BYTES_MAX } from '../../src/domain/whatsapp/template-parameters.ts';
import { TEMPLATE_NAME_CHARACTERS_MAX } from '../../src/domain/whatsapp/text-limits.ts';
import { Page, tables } from '../support/markdown.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };
/** The table rounds; a delay is spread by 20 % anyway. */
const ROUNDING_SHARE = 0.02;

const BYTES_PER_KB = 1_024;

describe('section 8 of docs/api.md', () => {
  it('docs/api.md has the limits of the code', () => {
    const [rows = []] = tables(new Page('docs/api.md').section('## 8. Limits'));
    const { maxRequests, timeWindowMinutes } = DEFAULT_RATE_LIMIT;
    const million = number(PRICING_PAGE_MAX);
    expect(rows).toEqual([
      ['phone number', `${PHONE_NUMBER_DIGITS_MIN} to ${PHONE_NUMBER_DIGITS_MAX} digits`],
      ['sender ID', `at most ${SENDER_ID_CHARACTERS_MAX} characters`],
      ['verification code', `1 to ${VERIFICATION_CODE_CHARACTERS_MAX} characters`],
      ['text', `1 to ${CUSTOM_MESSAGE_CHARACTERS_MAX} characters`],
      ['template name', `1 to ${TEMPLATE_NAME_CHARACTERS_MAX} characters`],
      [
        'template parameter',
        `at most ${TEMPLATE_PARAMETER_CHARACTERS_MAX} characters; all of one message at most ${TEMPLATE_PARAMETERS_BYTES_MAX / 1_024} kB`,
      ],
      ['webhook address', `at most ${WEBHOOK_URL_CHARACTERS_MAX} characters`],
      ['webhook secret', `1 to ${WEBHOOK_SECRET_CHARACTERS_MAX} characters`],
      ['campaign name', `${CAMPAIGN_NAME_CHARACTERS_MIN} to ${CAMPAIGN_NAME_CHARACTERS_MAX} characters`],
      ['recipients of a request', `1 to ${number(RECIPIENTS_PER_REQUEST_MAX)}`],
      ['recipients of a campaign', `at most ${number(RECIPIENTS_PER_CAMPAIGN_MAX)}`],
      ['template parameters of a campaign', `at most ${PARAMETER_BYTES_PER_CAMPAIGN_MAX / 1_024 ** 2} MB`],
      ['campaigns of a project that have not started', `at most ${number(UNSTARTED_CAMPAIGNS_MAX)}`],
      ['their recipients', `about ${number(UNSTARTED_RECIPIENTS_MAX)}`],
      [
        'request body',
        `${BODY_BYTES_MAX / BYTES_PER_KB} kB, nested ${JSON_DEPTH_MAX} levels deep, at most ${JSON_OBJECT_MEMBERS_MAX} members in an object and ${number(JSON_LIST_ITEMS_MAX)} in a list, ${number(JSON_MEMBERS_MAX)} in all; ` +
          `${RECIPIENT_BODY_BYTES_MAX / BYTES_PER_KB ** 2} MB and ${number(RECIPIENT_BODY_MEMBERS_MAX)} members with a list of recipients`,
      ],
      [
        'accepted sends to one phone number',
        `${maxRequests} in ${timeWindowMinutes} minutes, unless the project says otherwise`,
      ],
      ['`Idempotency-Key`', `1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`],
      [
        'page of prices',
        `${PRICING_LIMIT_DEFAULT} rows, or 1 to ${PRICING_LIMIT_MAX}; pages 1 to ${million}`,
      ],
      [
        'page of campaigns',
        `${CAMPAIGN_LIMIT_DEFAULT}, or 1 to ${CAMPAIGN_LIMIT_MAX}; pages 1 to ${number(CAMPAIGN_PAGE_MAX)}`,
      ],
      [
        'page of recipients',
        `${RECIPIENT_LIMIT_DEFAULT}, or 1 to ${RECIPIENT_LIMIT_MAX}; pages 1 to ${number(CAMPAIGN_PAGE_MAX)}`,
      ],
      [
        'numbers of a report',
        `up to ${number(REPORT_PHONE_NUMBERS_MAX)}, each of up to ${REPORT_PHONE_NUMBER_CHARACTERS_MAX} characters`,
      ],
      [
        'reports of a project',
        `${UNMADE_REPORTS_MAX} that are still to be made, ${REPORTS_PER_DAY_MAX} requested in 24 hours, no further one with ${number(STORED_RECORDS_MAX)} messages in the files`,
      ],
      [
        'page of reports',
        `${REPORT_LIMIT_DEFAULT}, or 1 to ${REPORT_LIMIT_MAX}; pages 1 to ${number(REPORT_PAGE_MAX)}`,
      ],
      ['availability of a report', `${REPORT_LIFETIME_DAYS} days`],
      [
        'messages of campaigns from one whatsapp number',
        `${MESSAGES_PER_SECOND} a second, or ${number(FAST_MESSAGES_PER_SECOND)}, see [sending rate](campaigns.md#sending-rate)`,
      ],
      ['billing unit of an sms', '140 characters, see [money](money.md)'],
      [
        'delivery webhook',
        `${DELIVERY_ATTEMPT_TIMEOUT_MS / 1_000} seconds for the response, up to ${DELIVERY_RETRIES_MAX} retries`,
      ],
      [
        'requests of one connection without a reply',
        `${SERVER_LIMITS.connectionRequestsMax} are served at a time, in order; the others wait, up to ${SERVER_LIMITS.connectionOpenRequestsMax} in all, with ${SERVER_LIMITS.connectionOpenLinesMax} header lines together, trailers included; one more gets 503 and closes the connection. While more than ${FAST_CONNECTIONS} new connections come in ${FAST_CONNECTIONS_MS} ms it is 1, and one more may close the connection without a reply`,
      ],
      [
        'chunks of a chunked body',
        `${REQUEST_PIECES.smallMax}, and more when all together have ${REQUEST_PIECES.bytesMin} bytes each; else 400, and the connection closes. What a connection sends at once: ${ROUND_PIECES.smallMax}, and more with ${ROUND_PIECES.bytesMin} bytes each`,
      ],
    ]);
  });
});

describe('the limits of one process in docs/performance.md', () => {
  it('the table has the limits of the code', () => {
    const [rows = []] = tables(new Page('docs/performance.md').section('## Limits of one process'));
    const limits = DELIVERY_LIMITS;
    expect(READY_JOBS_MAX).toBe(MEMORY_QUEUE_JOBS_MAX);
    expect(rows.map(([limit, value]) => [limit, value])).toEqual([
      [
        'requests served at a time',
        `${number(SERVER_LIMITS.requestsPerProjectMax)} of one project, ` +
          `${number(SERVER_LIMITS.requestsPerAddressMax)} of one address, ` +
          `${number(SERVER_LIMITS.requestsMax)} in all; more get 503 \`overloaded\``,
      ],
      [
        'requests about campaigns served at a time, but for the list and the shape of a payload',
        `${CAMPAIGN_REQUESTS_PER_PROJECT_MAX} of one project, ${CAMPAIGN_REQUESTS_MAX} in all; more wait, behind their bodies; whenever they kept the event loop busy for more than ${WORK_FREE_MS} ms in sum, none begins for ${PAUSE_FACTOR} times as long`,
      ],
      [
        'other requests of projects served at a time, but for sends and for what is said below',
        `${PROJECT_REQUESTS_PER_PROJECT_MAX} of one project, ${PROJECT_REQUESTS_MAX} in all; more wait, behind their bodies, by project in rotation`,
      ],
      [
        'jobs of a process that start campaigns at their time, and those that stop campaigns',
        `${CAMPAIGN_JOBS_PER_PROJECT_MAX} of one project and ${CAMPAIGN_JOBS_MAX} in all of each are worked on, and whenever they kept the event loop busy for more than ${WORK_FREE_MS} ms in sum, none begins for ${PAUSE_FACTOR} times as long; ${PROJECT_JOBS_HELD_PER_PROJECT_MAX.toLocaleString('en')} of one project and ${PROJECT_JOBS_HELD_MAX.toLocaleString('en')} in all wait; more come again when their leases end`,
      ],
      [
        'requests of reports stored at a time',
        `${REPORTS_REQUESTED_PER_PROJECT_MAX} of one project, ${REPORTS_REQUESTED_MAX} in all; more wait, by project in rotation`,
      ],
      [
        'bodies with a list of recipients read or held at a time',
        `${RECIPIENT_BODIES_PER_PROJECT_MAX} of one project, ${RECIPIENT_BODIES_MAX} in all, each of up to ${RECIPIENT_BODY_BYTES_MAX / BYTES_PER_KB ** 2} MB; more wait unread, and while they do, one that has been read for ${SLOW_BODY_MS / 1_000} s gets 503 \`overloaded\``,
      ],
      [
        'requests of one connection served at a time',
        `${SERVER_LIMITS.connectionRequestsMax}, in order; more wait`,
      ],
      [
        'requests of one connection without a reply',
        `${SERVER_LIMITS.connectionOpenRequestsMax}, with ${SERVER_LIMITS.connectionOpenLinesMax} header lines together; one more gets 503 \`overloaded\` behind their replies and closes the connection, and nothing behind it is parsed; 1 while those behind others have ${number(SERVER_LIMITS.roundPipelinedLinesMax)} lines in a round, each ${PIPELINED_REQUEST_LINES} more than its own, and while more than ${FAST_CONNECTIONS} new connections come in ${FAST_CONNECTIONS_MS} ms`,
      ],
      [
        'requests that wait for an earlier one of their connection, or follow one in the same round of the event loop',
        `served for ${WAITING_REQUESTS_MS_MAX} ms in a round of the event loop: those of projects and those of unknown callers alternately, by project and by address in rotation; a project is known by a key that was admitted before, one of ${number(KNOWN_KEYS_MAX)}`,
      ],
      [
        'requests that a gate has let through, and links of reports that are looked up',
        `begin in the same way, for ${WAITING_REQUESTS_MS_MAX} ms in a round of the event loop`,
      ],
      [
        'connections',
        `${number(SERVER_LIMITS.connectionsMax)}; one more closes one of the address that has most: ` +
          'the one that has been idle longest, or whose request has been arriving for longest, or else the one whose request came first',
      ],
      [
        'connections with a request on which nothing moves',
        `closed after ${SERVER_LIMITS.stallTimeoutMs / 1_000} s`,
      ],
      [
        'what is unsent of one reply',
        `up to ${SERVER_LIMITS.freeReplyBytesMax / BYTES_PER_KB} KiB count for nobody; with more the reply counts for its address and its project until it has gone out`,
      ],
      [
        'what a connection holds for a client that does not read',
        `${SERVER_LIMITS.connectionUnreadBytesMax / BYTES_PER_KB} KiB; with more it serves no further request until the client reads`,
      ],
      [
        `what all such connections hold, and those whose waiting requests hold more than ${SERVER_LIMITS.connectionUnreadBytesMax / BYTES_PER_KB} KiB`,
        `${SERVER_LIMITS.unreadBytesMax / BYTES_PER_KB ** 2} MiB; beyond it the one on which nothing has moved for longest is closed, of the address that has most`,
      ],
      [
        'downloads of reports',
        `${REPORT_DOWNLOADS_PER_ADDRESS_MAX} of one address, ${REPORT_DOWNLOADS_PER_PROJECT_MAX} of the reports of one project, ${REPORT_DOWNLOADS_MAX} in all; more get 503 \`overloaded\``,
      ],
      [
        'links of reports looked up at a time',
        `${REPORT_LINKS_PER_ADDRESS_MAX} of one address, ${REPORT_LINKS_MAX} in all; more wait, by address in rotation, until their callers leave`,
      ],
      [
        'files of the page at `/docs` and `/openapi.json` on their way to clients',
        `${DOCS_FILES_PER_ADDRESS_MAX} to one address, ${DOCS_FILES_MAX} in all with those of the last ${UNSENT_REPLY_COUNTED_MS} ms; more get 503 \`overloaded\``,
      ],
      [
        'what the bodies of callbacks hold until they are checked and stored',
        `${CALLBACK_BODIES_BYTES_MAX / BYTES_PER_KB ** 2} MiB, each of up to ${CALLBACK_BYTES_MAX / BYTES_PER_KB ** 2} MB; beyond it the connection of the unfinished one that began first is closed, of an address that has more than half of the unfinished bytes or else of any`,
      ],
      ['receipts of callbacks stored at a time', `${BATCH_ITEMS_MAX}, by callback in rotation`],
      [
        'inbound messages stored at a time',
        `${INBOUND_STORED_AT_ONCE_MAX}, by number in rotation; whenever storing them kept the event loop busy for more than ${WORK_FREE_MS} ms in sum, none are stored for ${PAUSE_FACTOR} times as long`,
      ],
      [
        'reports written at a time, and removed',
        `${REPORT_JOB_LIMITS.perProject} of one project, ${REPORT_JOB_LIMITS.all} in all, and as many; more wait`,
      ],
      [
        'unknown keys without a checksum looked up at a time',
        `${UNKNOWN_KEY_QUERIES_PER_ADDRESS_MAX} of one address, ${UNKNOWN_KEY_QUERIES_MAX} in all; more get 503 \`overloaded\``,
      ],
      [
        'connections that wait to be accepted',
        `${number(LISTEN_BACKLOG_MAX)}, where the system allows as many; meanwhile rounds of the event loop only accept for ${ACCEPTING_MS} ms, and for ${BACKLOG_WORK_MS} ms each has ${BACKLOG_ROUND_MS} ms of requests, ${BACKLOG_ROUND_MS} ms of those that gates have let through and ${BACKLOG_ROUND_MS} ms of bodies`,
      ],
      [
        `new connections, and bodies of more than ${UNREAD_BODY_BYTES_KEPT / BYTES_PER_KB} KiB and chunked ones, while they are read`,
        `${READING_CLIENTS_MS_MAX} ms in a round of the event loop, ${BACKLOG_ROUND_MS} ms while connections wait to be accepted, none in a round that only accepts; then ${CONNECTIONS_READ_PER_ROUND} connections, or ${CONNECTIONS_READ_PER_MS} for each millisecond of the round before, and ${BODIES_READ_PER_ROUND} piece of a body in a round, alternately by address in rotation and by time; bodies have ${READING_BODIES_SHARE * 100} % of the time while they take long`,
      ],
      [
        'bodies parsed and checked',
        `${BODIES_MS_MAX} ms in a round of the event loop, the rest by project in rotation; those of more than ${SMALL_BODY_BYTES_MAX / BYTES_PER_KB} kB have ${LARGE_BODIES_SHARE * 100} % of the time`,
      ],
      [
        'TLS and HTTP of receivers',
        `${HANDSHAKE_FREE_MS} ms of a handshake and ${RESPONSE_FREE_MS} ms of a response are free, and of the handshakes of a project ${RECEIVER_SHARES.freeMsMax} ms at once and then ${RECEIVER_SHARES.free * 100} % of the time; what they take beyond is ${RECEIVER_SHARES.owner * 100} % of the event loop's time at most for a project, and ${RECEIVER_SHARES.all * 100} % in all; no more than ${PEER_ROUND_MS} ms in one round of the loop; a handshake has at most ${HANDSHAKE_BYTES_MAX / BYTES_PER_KB} KiB, a response ${RESPONSE_BYTES_MAX / BYTES_PER_KB} KiB and ${HEADER_LINES_MAX} header lines in a row`,
      ],
      [
        'TLS of channel providers, a bucket and a trace receiver',
        `timed in the same way: ${PROVIDER_SHARES.freeMsMax / 1_000} s of each at once and then ${PROVIDER_SHARES.free * 100} % of the time are free, and ${PROVIDER_SHARES.owner * 100} % are for what it takes beyond, ${PROVIDER_SHARES.all * 100} % in all`,
      ],
      [
        'PDUs of one SMSC',
        `${READING_MS_MAX} ms in a round of the event loop, over all its binds; the SMSC waits with more`,
      ],
      [
        'submissions in flight to one channel provider',
        `${number(SUBMISSIONS_IN_FLIGHT_MAX)}; more attempts start a second later or more, but for ${number(SUBMISSIONS_IN_FLIGHT_MAX * BACKLOG_SHARE)} of each project and priority`,
      ],
      [
        'attempts of one project and priority that are begun and wait at a provider',
        `about ${WAITING_MIN}, or a ${WAITING_SHARE === 1 / 4 ? 'quarter' : '?'} of those that it took in the last ${HANDED_OVER_PERIOD_MS === 1_000 ? 'second' : '?'}, or of less urgent ones together; of all projects ${WAITING_IN_ALL_MIN}, or as many as it took in that second, and those that pass what waits of projects with their share in flight; more wait without being begun and count as in flight, and their jobs are due after ${START_WAIT_MS / 1_000} s`,
      ],
      [
        'requests to one channel provider over HTTP',
        `${PROVIDER_REQUESTS_MAX} in flight; one without a response for ${FRESH_MS} ms counts no longer, up to ${PROVIDER_CONNECTIONS_MAX} in all; more wait, the most urgent first and projects in rotation, and one that waited for ${PROVIDER_WAIT_MS / 1_000} s is not sent`,
      ],
      [
        'responses of channel providers over HTTP',
        `read for ${PROVIDER_RESPONSES_MS_MAX} ms in a round of the event loop, over all providers in rotation; each of at most ${PROVIDER_RESPONSE_BYTES_MAX / BYTES_PER_KB} KiB and ${number(PROVIDER_RESPONSE_MEMBERS_MAX)} members of JSON, but for pages of whatsapp resources; a body has as much framing at most, and no more than ${RESPONSE_PIECES.smallMax.toLocaleString('en')} pieces of less than ${RESPONSE_PIECES.bytesMin} bytes on average`,
      ],
      ['responses of a bucket of reports, but files', `${BUCKET_RESPONSE_BYTES_MAX / BYTES_PER_KB} KiB each`],
      [
        'whatsapp resources that are kept parsed',
        `documents of ${number(PARSED_TREES_CHARACTERS_MAX)} characters in all; those that were not used for longest are dropped`,
      ],
      [
        'messages of one project to a provider that says that it takes no more, and rejects half of them',
        `one by one, at ${KEPT_SHARE} of what it took in a second, then more along a curve; without a limit of this kind ${THROTTLED_MS / 1_000} s after it said so last`,
      ],
      [
        'submissions of one project in flight to an SMSC or an HTTP provider',
        `as many of the window, or of the requests, as it leaves free, while each of its own is younger than ${SLOW_AFTER_MS / 1_000} s; more, but for 1 in ${PLACES_PER_KEPT} of all, while fewer of its own are older than are free besides that tenth; one of which any took ${SLOW_AFTER_MS / 1_000} s in the last ${LATENCY_REMEMBERED_MS / 1_000} s leaves a tenth free, one of which any took ${FRESH_MS} ms a twentieth`,
      ],
      ['jobs that wait in a queue', `${number(MEMORY_QUEUE_JOBS_MAX)}; more wait in the database`],
      [
        'delivery attempts in flight',
        `${limits.attemptsPerEndpoint} to one host and path, ${limits.attemptsPerHost} to one host, ` +
          `${limits.attemptsPerProject} of one project, ${number(limits.attempts)} in all; ` +
          `to one host and in all a project gets as many as it leaves free, less 1 in ${ATTEMPTS_PER_KEPT} that is kept for projects with none`,
      ],
      [
        'log lines that wait for their reader',
        `${LOG_WAITING_BYTES_MAX / 1024 ** 2} MiB; later lines are dropped and counted`,
      ],
      [
        'idle connections to receivers',
        `${number(IDLE_CONNECTIONS_MAX)}; the one that has been idle longest is closed`,
      ],
      [
        'events in memory, attempted or not, until their results are stored',
        `${limits.fetchedPerDestination} of one destination, ${number(limits.fetchedPerProject)} of one project, ` +
          `${number(limits.fetched)} in all`,
      ],
      [
        'destinations at a time',
        `${number(limits.destinationsPerProject)} of one project, ${number(limits.destinations)} in all; ` +
          `the others come again after ${SURPLUS_DELAY_MS / 1_000} s to ${SURPLUS_DELAY_MAX_MS / 60_000} min, ` +
          `${(1_000 * SURPLUS_JOBS_MIN) / SURPLUS_DELAY_MS} a second of each project, or twice as many as have ended lately, ` +
          `${SURPLUS_JOBS_TOGETHER} together`,
      ],
    ]);
  });
});

describe('docs/webhooks.md', () => {
  it('docs/webhooks.md has the retries of the schedule, to a fiftieth', () => {
    const [rows = []] = tables(new Page('docs/webhooks.md').section('### Retries'));
    expect(rows.map(([retry]) => Number(retry))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(rows).toHaveLength(DELIVERY_RETRIES_MAX);
    let sinceFirst = 0;
    for (const [retry, afterLast = '', afterFirst = ''] of rows) {
      const delay = plannedDeliveryDelayMs(Number(retry)) / 1_000;
      sinceFirst += delay;
      expect(Math.abs(secondsOf(afterLast) - delay)).toBeLessThanOrEqual(delay * ROUNDING_SHARE);
      expect(Math.abs(secondsOf(afterFirst) - sinceFirst)).toBeLessThanOrEqual(sinceFirst * ROUNDING_SHARE);
    }
  });
});

describe('docs/operations.md', () => {
  it('docs/operations.md has the times of leases and heartbeats', () => {
    const page = new Page('docs/operations.md').section('## What happens when something is away');
    const beats = { 3: 'three' }[MISSED_HEARTBEATS_MAX];
    const statements = [
      `not ok within ${WORKER_SEEN_MS / 1_000} seconds`,
      `after ${beats} seconds without a heartbeat`,
      `a lease ends after ${LEASE_MS / 1_000} seconds`,
      `renews the leases of webhooks every ${RENEW_EVERY_MS / 1_000} seconds`,
      `${LEASES_TRUSTED_MS / 1_000} seconds after its last heartbeat`,
      `stays unknown until ${ATTEMPT_GRACE_MS / 1_000} seconds after its deadline`,
      `a result counts as unknown after ${SUBMIT_TIMEOUT_MS / 1_000} seconds`,
    ];
    expect(WORKER_HEARTBEAT_MS).toBe(1_000);
    expect(statements.filter((statement) => !page.includes(statement))).toEqual([]);
  });
});

/** With commas between thousands. */
function number(value: number): string {
  return value.toLocaleString('en');
}

/** `2 min 15 s` in seconds. */
function secondsOf(text: string): number {
  return [...text.matchAll(/([0-9]+) (s|min|h)\b/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (SECONDS[unit] ?? Number.NaN),
    0,
  );
}
