import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseChannels } from '../../src/bootstrap/config/channels-file.ts';
import { PROVIDER_KINDS } from '../../src/bootstrap/providers/provider-kinds.ts';
import { codeBlocks, Page } from '../support/markdown.ts';

const NAMES = ['SMSC_PASSWORD', 'META_ACCESS_TOKEN', 'META_APP_SECRET', 'META_VERIFY_TOKEN', 'GATEWAY_TOKEN'];

it('the channels file of docs/channels.md is a good one, and has every kind of provider', () => {
  const [json = ''] = codeBlocks(new Page('docs/channels.md').text, 'json');
  const folder = mkdtempSync(join(tmpdir(), 'channels-'));
  try {
    const token = join(folder, 'token');
    writeFileSync(token, 'token\n');
    const environment = Object.fromEntries(NAMES.map((name) => [name, 'of-the-test']));
    const config = parseChannels(json.replace('/run/secrets/gateway-token', token), environment);
    const kinds = [config.sms, config.whatsapp, config.telegram].flatMap(
      (channel) => channel?.providers.map(({ kind }) => kind) ?? [],
    );
    expect(kinds.toSorted()).toEqual(Object.keys(PROVIDER_KINDS).toSorted());
    expect(config.sms?.routes).toHaveLength(3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
