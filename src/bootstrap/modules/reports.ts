import { ContainerModule } from 'inversify';
import { csvDecoder } from '../../adapters/csv/csv-decoder.ts';
import { csvEncoder } from '../../adapters/csv/csv-encoder.ts';
import { connectPeer } from '../../adapters/egress/peer-connection.ts';
import { PeerTime, PROVIDER_SHARES } from '../../adapters/egress/tls/peer-time.ts';
import { timedTls } from '../../adapters/egress/tls/timed-tls.ts';
import { MemoryReportFiles } from '../../adapters/memory/report-files.ts';
import { DirectoryReportFiles } from '../../adapters/node/directory-report-files.ts';
import { BucketReportFiles } from '../../adapters/s3/bucket-report-files.ts';
import type { ReportFiles } from '../../application/ports/report-files.ts';
import type { ReportsConfig } from '../config/config.ts';
import { ports } from '../tokens.ts';

/** The csv files of reports, and csv as such. */
export const reports = (config: ReportsConfig = { kind: 'memory' }) =>
  new ContainerModule(({ bind }) => {
    bind(ports.reportFiles).toConstantValue(reportFilesOf(config));
    bind(ports.csvDecoder).toConstantValue(csvDecoder);
    bind(ports.csvEncoder).toConstantValue(csvEncoder);
  });

function reportFilesOf(config: ReportsConfig): ReportFiles {
  switch (config.kind) {
    case 'memory':
      return new MemoryReportFiles();
    case 'directory':
      return new DirectoryReportFiles(config);
    case 'bucket': {
      const bucketTls = timedTls(new PeerTime(PROVIDER_SHARES));
      return new BucketReportFiles(config, {
        connectTcp: connectPeer,
        connectTls: (address) => bucketTls(config.bucket, address),
      });
    }
    default:
      return config satisfies never;
  }
}
