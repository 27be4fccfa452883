import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { connectPeer } from '../../adapters/egress/peer-connection.ts';
import { ENQUIRE_LINK_DEFAULT_MS, SmppProvider, WINDOW_DEFAULT } from '../../adapters/smpp/smpp-provider.ts';
import { isSenderIdOfSmpp } from '../../adapters/smpp/submit-fields.ts';
import { timedTimeout } from '../../adapters/timer/timed-timeout.ts';
import { MESSAGE_ID_FORMS } from '../../domain/sms/message-id-forms.ts';
import { hasMembers } from './has-members.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { SecretSchema } from './secret.ts';

const PORT_DEFAULT = 2_775;
/** Of SMPP over TLS. */
const TLS_PORT_DEFAULT = 3_550;

const SYSTEM_ID_CHARACTERS_MAX = 15;
/** SMPP has 8, and SMSCs take more. */
const PASSWORD_CHARACTERS_MAX = 64;
const SYSTEM_TYPE_CHARACTERS_MAX = 12;
const BINDS_MAX = 20;
const WINDOW_MAX = 1_000;
const PER_SECOND_MAX = 10_000;
const ENQUIRE_LINK_SECONDS_MIN = 5;
const ENQUIRE_LINK_SECONDS_MAX = 600;
const OCTET_MAX = 255;

const address = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSmpp = url !== null && /^smpps?:$/.test(url.protocol) && url.hostname !== '' && url.port !== '0';
  const isBare = url !== null && !/[/?#@]/.test(text.replace(/^smpps?:\/\//i, '').replace(/\/$/, ''));
  if (!isSmpp || !isBare) {
    context.addIssue({
      code: 'custom',
      message: 'must be smpp://host:port or smpps://host:port, without credentials and path',
    });
    return z.NEVER;
  }
  const tls = url.protocol === 'smpps:';
  const port = url.port === '' ? (tls ? TLS_PORT_DEFAULT : PORT_DEFAULT) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls };
});

const certificates = z.string().transform((file, context) => {
  try {
    const pem = readFileSync(file, 'utf8');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  } catch {
    // Said below.
  }
  context.addIssue({ code: 'custom', message: `${file} cannot be read, or has no certificate in PEM` });
  return z.NEVER;
});

const ascii = (min: number, max: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[\\x20-\\x7e]{${min},${max}}$`),
      `must be ${min} to ${max} printable characters of ASCII`,
    );

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.number(message).int(message).min(min, message).max(max, message);
};

const addressKind = z.strictObject({ ton: whole(0, OCTET_MAX), npi: whole(0, OCTET_MAX) });

const settings = (secret: SecretSchema) =>
  z
    .strictObject({
      url: address,
      systemId: ascii(1, SYSTEM_ID_CHARACTERS_MAX),
      password: secret.pipe(ascii(1, PASSWORD_CHARACTERS_MAX)),
      systemType: ascii(0, SYSTEM_TYPE_CHARACTERS_MAX).default(''),
      /** Connections at one time. */
      binds: whole(1, BINDS_MAX).default(1),
      /** `submit_sm` without a response at one time, for each connection. */
      window: whole(1, WINDOW_MAX).default(WINDOW_DEFAULT),
      /** `submit_sm` in any second, over all connections of a process. */
      perSecond: whole(1, PER_SECOND_MAX).optional(),
      enquireLinkSeconds: whole(ENQUIRE_LINK_SECONDS_MIN, ENQUIRE_LINK_SECONDS_MAX).default(
        ENQUIRE_LINK_DEFAULT_MS / 1_000,
      ),
      /** The sender of a message that names none. */
      senderId: z
        .string()
        .refine(isSenderIdOfSmpp, 'must be 1 to 20 printable characters of ASCII')
        .optional(),
      /** Else by the sender ID: a name 5 and 0, a short code 3 and 0, an international number 1 and 1. */
      source: addressKind.optional(),
      destination: addressKind.default({ ton: 1, npi: 1 }),
      dataCodingGsm: whole(0, OCTET_MAX).default(0),
      submitIds: z.enum(MESSAGE_ID_FORMS).default('as-is'),
      receiptIds: z.enum(MESSAGE_ID_FORMS).default('as-is'),
      /** Certificates of authorities in PEM, for `smpps`, instead of the usual ones. */
      caFile: certificates.optional(),
    })
    .refine(({ url, caFile }) => caFile === undefined || url?.tls !== false, {
      when: hasMembers,
      path: ['caFile'],
      message: 'needs an url with smpps://',
    });

/** An SMSC that speaks SMPP 3.4. */
export const smppKind: ProviderKind<ReturnType<typeof settings>> = {
  channels: ['sms'],
  settings,
  make: (given, { name, clock, logger, timedTls }) => ({
    provider: new SmppProvider({
      name,
      address: { ...given.url, ca: given.caFile },
      connectTcp: connectPeer,
      connectTls: (address) => timedTls(name, address),
      credentials: { systemId: given.systemId, password: given.password, systemType: given.systemType },
      binds: given.binds,
      window: given.window,
      perSecond: given.perSecond ?? null,
      enquireLinkMs: given.enquireLinkSeconds * 1_000,
      submit: {
        defaultSenderId: given.senderId ?? null,
        source: given.source ?? null,
        destination: given.destination,
        dataCodingGsm: given.dataCodingGsm,
      },
      ids: { submitIds: given.submitIds, receiptIds: given.receiptIds },
      clock,
      logger,
      timeouts: timedTimeout,
      random: Math.random,
    }),
    callback: null,
    whatsappPlatform: null,
  }),
};
