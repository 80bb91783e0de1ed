import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useStore } from '../app/store.ts';
import { quotePath } from '../editor/quote-name.ts';
import type { BrowsedObject } from '#coordinator/api/browse/browse-operations.ts';
import { onCatalogChange } from './catalog-changes.ts';
import { hasChildren, treeLines, type CatalogTree, type TreeLine } from './catalog-tree.ts';

type Props = {
  readonly tree: CatalogTree;
  readonly onInsert: (text: string, object: BrowsedObject) => void;
  readonly onPreview: (path: string, object: BrowsedObject) => void;
  /** A line was clicked. */
  readonly onChoose?: (object: BrowsedObject) => void;
  /** The place that is looked at, which the tree shows. */
  readonly at?: { readonly catalog: string | null; readonly schema: string | null; readonly object: string | null };
};

const LINE_PX = 26;
const SEARCH_DELAY_MS = 200;

const ICONS: Readonly<Record<BrowsedObject['kind'], string>> = {
  catalog: '▣',
  schema: '▤',
  table: '▦',
  view: '◫',
  'materialized view': '◩',
  stage: '⇪',
  column: '·',
};

/** The names of an object as a statement has them. */
const pathOf = ({ kind, catalog, schema, name }: BrowsedObject): string => {
  if (kind === 'column' || kind === 'catalog') return quotePath(null, null, name);
  if (kind === 'schema') return quotePath(catalog, name, null);
  return kind === 'stage' ? `@${quotePath(null, schema, name)}` : quotePath(catalog, schema, name);
};

const canPreview = ({ kind }: BrowsedObject): boolean =>
  kind === 'table' || kind === 'view' || kind === 'materialized view';

/** The tree of everything that can be asked. */
export function CatalogPanel({ tree, onInsert, onPreview, onChoose, at }: Props): ReactNode {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => void tree.load().then(() => setLoaded(true)), [tree]);
  useEffect(() => onCatalogChange(() => void tree.reload()), [tree]);
  useEffect(() => {
    if (isLoaded && at !== undefined) void tree.reveal(at);
  }, [isLoaded, tree, at?.catalog, at?.schema, at?.object]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <section className="catalog" aria-label="Objects">
      <div className="bar">
        <input
          type="search"
          aria-label="Search objects"
          placeholder="Search"
          className="grow"
          onChange={({ target }) => {
            clearTimeout(timer.current);
            timer.current = setTimeout(() => void tree.search(target.value.trim()), SEARCH_DELAY_MS);
          }}
        />
        <button type="button" aria-label="Load again" title="Load again" onClick={() => void tree.reload()}>
          ↻
        </button>
      </div>
      <Lines tree={tree} onInsert={onInsert} onPreview={onPreview} {...(onChoose === undefined ? {} : { onChoose })} />
    </section>
  );
}

function Lines({ tree, onInsert, onPreview, onChoose }: Props): ReactNode {
  const state = useStore(tree.state, (value) => value);
  const lines = useMemo(() => treeLines(state), [state]);
  const [focused, setFocused] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 10,
  });
  useShownLine(state.shown, lines, (line) => {
    setFocused(line);
    rows.scrollToIndex(line);
  });
  const at = Math.min(focused, Math.max(0, lines.length - 1));
  const act = (line: TreeLine | undefined): void => {
    if (line?.kind === 'more') tree.more(line.parent);
    else if (line?.kind === 'object') onInsert(pathOf(line.object), line.object);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const line = lines[at];
    const next = movedLine(lines, at, event.key);
    if (next !== undefined) {
      setFocused(next);
      rows.scrollToIndex(next);
    } else if (event.key === 'Enter') act(line);
    else if (line?.kind === 'object' && event.key === ' ' && canPreview(line.object))
      onPreview(pathOf(line.object), line.object);
    else if (line?.kind === 'object' && hasChildren(line.object) && /^Arrow(?:Left|Right)$/.test(event.key)) {
      tree.toggle(line.object, event.key === 'ArrowRight');
    } else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label="Catalog"
      className="tree"
      tabIndex={0}
      aria-activedescendant={lines.length > 0 ? `tree-${at}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          return line === undefined ? null : (
            <Line
              key={line.key}
              line={line}
              index={index}
              start={start}
              isFocused={index === at}
              canInsert={onChoose === undefined}
              onFocus={() => {
                setFocused(index);
                if (line.kind === 'object') onChoose?.(line.object);
              }}
              onAct={() => act(line)}
              onToggle={(object, isOpen) => tree.toggle(object, isOpen)}
              onPreview={onPreview}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Shows a line when it is there for the first time: lines that come above it later move it, and a line that was chosen since stays chosen. */
function useShownLine(shown: string | null, lines: readonly TreeLine[], show: (line: number) => void): void {
  const at = shown === null ? -1 : lines.findIndex(({ key }) => key === shown);
  useEffect(() => {
    if (at >= 0) show(at);
  }, [shown, at < 0]);
}

/** The line to which a key leads; undefined for a key that goes nowhere. */
function movedLine(lines: readonly TreeLine[], at: number, key: string): number | undefined {
  if (key === 'ArrowDown') return Math.min(lines.length - 1, at + 1);
  if (key === 'ArrowUp') return Math.max(0, at - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return lines.length - 1;
  const line = lines[at];
  // To the left of what is closed lies what it is in.
  if (key === 'ArrowLeft' && line !== undefined && !(line.kind === 'object' && line.isOpen === true)) {
    const parent = lines.slice(0, at).findLastIndex(({ level }) => level < line.level);
    return parent < 0 ? at : parent;
  }
  if (key.length !== 1 || key === ' ') return undefined;
  const begins = (one: TreeLine): boolean =>
    one.kind === 'object' && one.object.name.toLowerCase().startsWith(key.toLowerCase());
  const behind = lines.findIndex((one, i) => i > at && begins(one));
  return behind >= 0 ? behind : lines.findIndex(begins) >= 0 ? lines.findIndex(begins) : at;
}

type LineProps = {
  readonly line: TreeLine;
  readonly index: number;
  readonly start: number;
  readonly isFocused: boolean;
  readonly canInsert: boolean;
  readonly onFocus: () => void;
  readonly onAct: () => void;
  readonly onToggle: (object: BrowsedObject, isOpen: boolean) => void;
  readonly onPreview: (path: string, object: BrowsedObject) => void;
};

function Line({ line, index, start, isFocused, canInsert, onFocus, onAct, onToggle, onPreview }: LineProps): ReactNode {
  const place = { transform: `translateY(${start}px)`, paddingLeft: `${line.level * 0.9 - 0.5}rem` };
  const isOpen = line.kind === 'object' ? line.isOpen : undefined;
  const onClick = (): void => {
    onFocus();
    if (line.kind === 'more') onAct();
    else if (line.kind === 'object' && isOpen !== undefined) onToggle(line.object, !isOpen);
  };
  return (
    <div
      id={`tree-${index}`}
      role="treeitem"
      aria-level={line.level}
      aria-expanded={isOpen}
      aria-selected={isFocused}
      className="tree-line"
      style={place}
      onClick={onClick}
      onDoubleClick={onAct}
      title={line.kind === 'object' ? (line.object.comment ?? line.object.name) : undefined}
    >
      {line.kind === 'more' ? <span className="link">100 more</span> : null}
      {line.kind === 'told' ? <span className={line.isProblem ? 'wrong' : 'quiet'}>{line.text}</span> : null}
      {line.kind === 'object' ? (
        <>
          <span aria-hidden="true" className="quiet">
            {isOpen === undefined ? ' ' : isOpen ? '▾' : '▸'} {ICONS[line.object.kind]}
          </span>
          <span className="name">{line.object.name}</span>
          {line.object.type === null ? null : <small className="quiet">{line.object.type}</small>}
          {isFocused ? (
            <Actions object={line.object} onInsert={canInsert ? onAct : null} onPreview={onPreview} />
          ) : null}
        </>
      ) : null}
    </div>
  );
}

type ActionsProps = {
  readonly object: BrowsedObject;
  /** Null where there is no text that the name could go to. */
  readonly onInsert: (() => void) | null;
  readonly onPreview: (path: string, object: BrowsedObject) => void;
};

/** By the keyboard: Enter inserts, Space shows rows. */
function Actions({ object, onInsert, onPreview }: ActionsProps): ReactNode {
  return (
    <span className="line-actions" aria-hidden="true">
      {onInsert === null ? null : (
        <button
          type="button"
          tabIndex={-1}
          title="Insert the name (Enter)"
          onClick={(event) => {
            event.stopPropagation();
            onInsert();
          }}
        >
          +
        </button>
      )}
      {canPreview(object) ? (
        <button
          type="button"
          tabIndex={-1}
          title="Show 100 rows (Space)"
          onClick={(event) => {
            event.stopPropagation();
            onPreview(pathOf(object), object);
          }}
        >
          ▷
        </button>
      ) : null}
    </span>
  );
}
