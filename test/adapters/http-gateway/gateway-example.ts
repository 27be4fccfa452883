import { UndiciProviderHttp } from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import { httpGatewayKind } from '../../../src/bootstrap/providers/http-gateway.ts';
import type { MadeProvider, ProviderTools } from '../../../src/bootstrap/providers/provider-kind.ts';
import { secretIn } from '../../../src/bootstrap/providers/secret.ts';
import { NOW } from '../../support/builders.ts';
import { IDLE_EVENT_LOOP } from '../../support/idle-event-loop.ts';
import { codeBlocks, Page } from '../../support/markdown.ts';
import { providerTls } from '../../support/provider-tls.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { CREDENTIALS } from './stand-in-gateway.ts';

/** The settings beside `kind`, as they stand in a channels file. */
export type RawSettings = Readonly<Record<string, unknown>>;

const page = new Page('docs/sms-over-http.md');

/** The example under a heading of the page, with a gateway of this machine in place of its own. */
export function exampleOf(heading: string, origin: string): RawSettings {
  const [example = '{}'] = codeBlocks(page.section(heading), 'json');
  const { kind, ...settings } = JSON.parse(example.replaceAll(/https:\/\/\w+\.gateway\.example/g, origin));
  if (kind !== 'http-gateway') throw new Error(`The example under ${heading} is of another kind`);
  return settings;
}

export const JSON_HEADING = '## A gateway with JSON';
export const QUERY_HEADING = '## A gateway with a query and plain text';

/** The provider of these settings, with the credentials of the stand-ins. */
export function gatewayOf(
  settings: RawSettings,
  timeoutMs = FAR_MS,
  logger = new RecordingLogger(),
): MadeProvider {
  return httpGatewayKind.make(
    httpGatewayKind.settings(secretIn(CREDENTIALS)).parse(settings),
    toolsWith(timeoutMs, logger),
  );
}

/** The mistakes that a start would name, as `path: message`. */
export function mistakesIn(settings: RawSettings): readonly string[] {
  const { error } = httpGatewayKind.settings(secretIn(CREDENTIALS)).safeParse(settings);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** So far away that no response is late on a busy machine. */
const FAR_MS = 9_000;

function toolsWith(timeoutMs: number, logger: RecordingLogger): ProviderTools {
  return {
    name: 'gateway',
    clock: { now: () => NOW },
    eventLoop: IDLE_EVENT_LOOP,
    logger,
    hmac: nodeHmac,
    whatsappDirectory: { resourcesOf: async () => new Map(), phoneIdsOf: async () => new Map() },
    timedTls: providerTls,
    http: () => new UndiciProviderHttp({ timeoutMs }),
  };
}
