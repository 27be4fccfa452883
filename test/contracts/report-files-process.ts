/** A process that writes half of a report file, says so, and waits to be killed. */
import { DirectoryReportFiles } from '../../src/adapters/node/directory-report-files.ts';
import { BucketReportFiles } from '../../src/adapters/s3/bucket-report-files.ts';
import type { ReportsConfig } from '../../src/bootstrap/config/config.ts';
import { peerConnections } from '../support/provider-tls.ts';

const config = JSON.parse(process.argv[2] ?? '') as Exclude<ReportsConfig, { readonly kind: 'memory' }>;
const fileId = process.argv[3] ?? '';
const files =
  config.kind === 'directory'
    ? new DirectoryReportFiles(config)
    : new BucketReportFiles(config, peerConnections);

/** More than two parts of an upload. */
const MIB_WRITTEN = 12;

await files.write(
  fileId,
  (async function* () {
    for (let mib = 0; mib < MIB_WRITTEN; mib += 1) yield 'x'.repeat(2 ** 20);
    process.send?.('half written');
    await new Promise(() => process.once('message', () => undefined));
  })(),
);
