import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { millisecondsInSecond } from 'date-fns/constants';
import { CLI_AGENT } from '../../adapters/http/cli-agent.ts';
import { DEMO_API_KEY } from '../config/demo-seed.ts';
import { EXIT_NOT_DONE, EXIT_UNAVAILABLE, EXIT_USAGE } from '../exit-codes.ts';
import { toNumber } from './admin/project-options.ts';
import type { CommandContext } from './console/command-context.ts';
import { CommandError } from './console/command-error.ts';
import {
  errorText,
  isBearerToken,
  isServiceAway,
  requestService,
  serviceUrl,
  urlOption,
} from './console/service-address.ts';
import { changesBetween, type TrackedMessage } from './message-changes.ts';

/** Between two readings of the status. */
const POLLING_INTERVAL_MS = 250;

/** A message that is not final after this time is left alone. */
const SECONDS_DEFAULT = 120;

const NO_DEMO = 'the service does not know the key of the demo project: give one with --key or BARID_KEY';

interface SendOptions {
  readonly code?: string;
  readonly text?: string;
  readonly provider?: string;
  readonly senderId?: string;
  readonly webhook?: string;
  readonly webhookSecret?: string;
  readonly key?: string;
  readonly url: string;
  readonly seconds: number;
}

/** `barid send`: one message, and its way until it is final. */
export function addSendCommand(program: Command, context: CommandContext): void {
  program
    .command('send')
    .description('send one message, and show its fallback chain until the message is final')
    .argument('<phone>', '10 to 15 digits, such as 9647701234567')
    .addOption(new Option('--code <code>', 'send this verification code').conflicts('text'))
    .option('--text <text>', 'send this text')
    .option('--provider <chain>', 'the channels, such as whatsapp-sms; the service chooses without it')
    .option('--sender-id <senderId>', 'an accepted sender ID of the project')
    .option('--webhook <url>', 'ask for delivery webhooks to this https URL')
    .option('--webhook-secret <secret>', 'that the webhooks are signed with')
    .option('--key <key>', 'API key of the project; BARID_KEY, or the key of the demo project, without it')
    .addOption(urlOption(context))
    .option('--seconds <seconds>', 'how long to wait for the final status', toNumber, SECONDS_DEFAULT)
    .addHelpText(
      'after',
      `
Exit code 0 means that the message was delivered, or sent where no receipt comes; 1 that it failed, or is not final yet.

Examples:
  barid send 9647701234567 --code 123456
  barid send 9990000000001 --text "Your parcel is here." --provider sms --json`,
    )
    .action(
      context.action((phoneNumber: string, options: SendOptions) => send(phoneNumber, options, context)),
    );
}

async function send(phoneNumber: string, options: SendOptions, context: CommandContext): Promise<number> {
  const { code, text, provider, senderId, webhook, webhookSecret } = options;
  if (code === undefined && text === undefined) {
    throw new CommandError('say what to send: --code 123456, or --text "Hello"', EXIT_USAGE);
  }
  const url = serviceUrl(options.url);
  const key = options.key ?? context.environment.BARID_KEY;
  if (key !== undefined && !isBearerToken(key)) {
    throw new CommandError(
      'the API key is none: it is one line without spaces, in --key or BARID_KEY',
      EXIT_USAGE,
    );
  }
  const headers = {
    authorization: `Bearer ${key ?? DEMO_API_KEY}`,
    'content-type': 'application/json',
    'user-agent': CLI_AGENT,
  };
  const content =
    code === undefined
      ? { smsType: 'custom', customMessage: text }
      : { smsType: 'verification', verificationCode: code };
  const deliveryReport = webhook === undefined ? undefined : { webhookUrl: webhook, webhookSecret };
  const body = JSON.stringify({ phoneNumber, ...content, provider, senderId, deliveryReport });
  const ask = async <Reply>(path: string, init: RequestInit): Promise<Reply> => {
    const reply = await requestService(url, path, { ...init, headers });
    if (reply.status === 200) return JSON.parse(reply.text) as Reply;
    if (key === undefined && reply.code === 'unauthorized') throw new CommandError(NO_DEMO, EXIT_NOT_DONE);
    throw new CommandError(errorText(reply), isServiceAway(reply) ? EXIT_UNAVAILABLE : EXIT_NOT_DONE);
  };
  const { smsId, cost } = await ask<{ smsId: string; cost: number }>('/sms', { method: 'POST', body });
  const startedAt = performance.now();
  const shown = () => `${((performance.now() - startedAt) / millisecondsInSecond).toFixed(1)} s`.padStart(8);
  context.print({ smsId, cost }, () => [`${shown()}  accepted  ${smsId}  ${cost} IQD`]);
  const endsAt = startedAt + options.seconds * millisecondsInSecond;
  for (let before: TrackedMessage | null = null; ; await wait(POLLING_INTERVAL_MS)) {
    const message: TrackedMessage = await ask<TrackedMessage>(`/sms/track/${smsId}`, {});
    const changes = changesBetween(before, message);
    if (changes.length > 0) {
      context.print(message, () => changes.map((change) => `${shown()}  ${change}`));
    }
    if (message.isFinalStatus) return message.status === 'failed' ? EXIT_NOT_DONE : 0;
    if (performance.now() >= endsAt) {
      context.output.error(`${smsId} is ${message.status}, and not final after ${options.seconds} seconds`);
      return EXIT_NOT_DONE;
    }
    before = message;
  }
}
