import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProjectSettings } from '../../../domain/access/project.ts';
import { EXIT_USAGE } from '../../exit-codes.ts';
import { CommandError } from '../console/command-error.ts';
import type { Fields } from './admin-console.ts';

type OptionWords = readonly [flags: string, description: string, parse?: (text: string) => unknown];

/** In the order of the help. An option of every setting: one that is left out does not compile. */
const OPTIONS = {
  spendingThreshold: ['--spending-threshold <amount>', 'in IQD, or off', toAmountOrOff],
  rateLimit: ['--rate-limit <sends/minutes>', 'of one phone number, such as 5/10, or off', toRateLimit],
  addressRateLimit: ['--address-rate-limit <sends/minutes>', 'of one client address, or off', toRateLimit],
  allowedIps: ['--allowed-ips <list>', 'addresses and ranges between commas; none allows all', toList],
  ipRuleScope: ['--ip-rule-scope <scope>', 'resources or all'],
  settlement: ['--settlement <rule>', 'quoted or delivered'],
  billingUnits: ['--billing-units <rule>', 'flat140 or gsm0338'],
  language: ['--language <language>', 'of verification texts: ar, ckb or en'],
  attemptTimeoutMs: ['--attempt-timeout-seconds <codes/others>', 'such as 30/300', toTimeouts],
  retention: ['--retention <days/action>', 'such as 90/anonymise or 90/remove, or off', toRetention],
  lowCredit: [
    '--low-credit <amount,url>',
    'below which credit the url is told, such as 5000,https://…, or off',
    toLowCredit,
  ],
  lowCreditSecretFile: [
    '--low-credit-secret-file <file>',
    'with the secret that signs what the url is told',
    toSecret,
  ],
  weight: ['--weight <number>', 'of its share of the work among projects: 1 to 100', toNumber],
} satisfies Record<keyof ProjectSettings | 'spendingThreshold' | 'lowCreditSecretFile', OptionWords>;

/** Adds the settings of a project. `bodyOf` makes a body of them. */
export function withSettings(command: Command): Command {
  for (const [flags, description, parse] of Object.values<OptionWords>(OPTIONS)) {
    const option = new Option(flags, description);
    command.addOption(parse === undefined ? option : option.argParser(parse));
  }
  return command;
}

/** The body that the options say. All but the secret have the names of its fields. Throws `CommandError`. */
export function bodyOf({ lowCreditSecretFile: webhookSecret, ...fields }: Fields): Fields {
  if (webhookSecret === undefined) return fields;
  const { lowCredit } = fields;
  if (typeof lowCredit !== 'object') {
    throw new CommandError(
      '--low-credit-secret-file needs --low-credit with an amount and a url.',
      EXIT_USAGE,
    );
  }
  return { ...fields, lowCredit: { ...lowCredit, webhookSecret } };
}

/** A number of an argument. Throws `InvalidArgumentError`. */
export function toNumber(text: string): number {
  if (/^-?[0-9]+(\.[0-9]+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a number, such as 15000 or 0.5.');
}

function toAmountOrOff(text: string): number | 'off' {
  return text === 'off' ? 'off' : toNumber(text);
}

function toRateLimit(text: string): Fields | 'off' {
  if (text === 'off') return 'off';
  const [maxRequests, timeWindowMinutes] = pairOf(text);
  return { maxRequests, timeWindowMinutes };
}

function toRetention(text: string): Fields | 'off' {
  if (text === 'off') return 'off';
  const [, days, action] = /^([0-9]{1,9})\/([a-z]+)$/.exec(text) ?? [];
  if (days === undefined) throw new InvalidArgumentError('It is days and an action, such as 90/anonymise.');
  return { days: Number(days), action };
}

function toLowCredit(text: string): Fields | 'off' {
  if (text === 'off') return 'off';
  const [, amount, webhookUrl] = /^([^,]+),(.+)$/s.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError('It is an amount and a url, such as 5000,https://shop.example/credit.');
  }
  return { amount: toNumber(amount), webhookUrl };
}

/** A secret stands in a file: the words of a command are in the list of processes. */
function toSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new InvalidArgumentError('The file cannot be read.');
  }
}

function toTimeouts(text: string): Fields {
  const [verification, other] = pairOf(text);
  return { verification, other };
}

function pairOf(text: string): readonly [number, number] {
  const [, first, second] = /^([0-9]{1,9})\/([0-9]{1,9})$/.exec(text) ?? [];
  if (first === undefined || second === undefined) {
    throw new InvalidArgumentError('It is two whole numbers, such as 5/10.');
  }
  return [Number(first), Number(second)];
}

function toList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The number of `--trial` as the field of a body. */
export function toTrial(ownPhoneNumber: string): Fields {
  return { ownPhoneNumber };
}
