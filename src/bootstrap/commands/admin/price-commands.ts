import type { Command } from 'commander';
import { fieldLines, tableLines } from '../console/text-table.ts';
import {
  type AdminConsole,
  type Columns,
  type Fields,
  type PageOptions,
  paged,
  pathOf,
} from './admin-console.ts';
import { priceFile } from './price-file.ts';

const VERSIONS: Columns = {
  list: 'versions',
  columns: ['id', 'status', 'effectiveFrom', 'createdAt', 'actor', 'rows', 'withdrawnAt'],
};
const ROWS: Columns = {
  list: 'international',
  columns: ['countryIso', 'country', 'countryCode', 'networkId', 'network', 'mccMnc', 'price'],
};
const CHANGES = ['change', 'countryIso', 'networkId', 'mccMnc', 'before', 'after'];

interface ImportOptions {
  readonly effectiveFrom?: string;
  readonly preview?: string;
}
type RowOptions = PageOptions & { readonly countryIso?: string };

/** `barid admin prices`. */
export function addPriceCommands(program: Command, admin: AdminConsole): void {
  const prices = program.command('prices').description('the price list: its imports and its history');
  const rowsOf = (command: Command) =>
    paged(command).option('--country-iso <country>', 'only rows of this country: two letters');
  const printRows = (path: string, { countryIso, ...options }: RowOptions) =>
    admin.printPage(path, options, ROWS, { countryIso }, ({ international: _, next: __, ...fields }) => [
      ...fieldLines(fields),
      '',
    ]);
  rowsOf(prices.command('show').description('show the price list in force')).action((options: RowOptions) =>
    printRows(pathOf('prices'), options),
  );
  fromFile('preview', 'say what an import would change; changes nothing').action(
    (path: string, options: ImportOptions) =>
      admin.print(
        { method: 'POST', path: pathOf('prices', 'previews'), query: { ...options }, file: priceFile(path) },
        previewLines,
      ),
  );
  fromFile('import', 'import a file as it was previewed')
    .requiredOption('--preview <preview>', '`preview` of the preview of the same file')
    .action((path: string, options: ImportOptions) =>
      admin.print({
        method: 'POST',
        path: pathOf('prices', 'versions'),
        query: { ...options },
        file: priceFile(path),
      }),
    );
  paged(
    prices.command('versions').description('list the versions of the price list, the newest first'),
  ).action((options: PageOptions) => admin.printPage(pathOf('prices', 'versions'), options, VERSIONS));
  rowsOf(ofVersion('show-version', 'show a version of the price list')).action(
    (version: string, options: RowOptions) => printRows(pathOf('prices', 'versions', version), options),
  );
  ofVersion('withdraw', 'withdraw a version that is not in force yet').action((version: string) =>
    admin.print({ method: 'POST', path: pathOf('prices', 'versions', version, 'withdraw') }),
  );

  function fromFile(name: string, description: string): Command {
    return prices
      .command(name)
      .description(description)
      .argument('<file>', 'csv with international rows, or JSON with a list or a part of it')
      .option('--effective-from <instant>', 'from when on it is in force, ISO 8601; at once without');
  }

  function ofVersion(name: string, description: string): Command {
    return prices.command(name).description(description).argument('<version>', 'the id of the version');
  }
}

/** The counts, the system prices that differ, and a table of the rows that do. */
function previewLines({ system, international, ...fields }: Fields): readonly string[] {
  const changed = system as readonly { name: string; before: number | null; after: number }[];
  const rows = international as readonly { before: Fields | null; after: Fields | null }[];
  return [
    ...fieldLines(fields),
    ...(changed.length === 0
      ? []
      : [
          '',
          ...tableLines(
            ['price', 'before', 'after'],
            changed.map(({ name, ...rest }) => ({ price: name, ...rest })),
          ),
        ]),
    ...(rows.length === 0 ? [] : ['', ...tableLines(CHANGES, rows.map(changeOf))]),
  ];
}

function changeOf({
  before,
  after,
}: {
  readonly before: Fields | null;
  readonly after: Fields | null;
}): Fields {
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed';
  return { ...(after ?? before), change, before: before?.price, after: after?.price };
}
