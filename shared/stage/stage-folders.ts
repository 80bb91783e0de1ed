/** Where the files of stages lie. Pure; locations are normalised. */

/**
 * The folder of all stages of a warehouse. No table, and no catalog, may have a file or a folder at or below a folder of this name: what
 * lies there is a principal's own, or that of those who may read the stage.
 */
const STAGES_FOLDER = '.stages';
/** The folder of a stage in which its files are written; no path of a stage reaches it (`stagePathNames`). */
export const UPLOADS_FOLDER = '.uploads';

/** The folder of a stage. */
export const stageFolder = (root: string, id: string): string => `${root}/${STAGES_FOLDER}/${id}`;

/** The root below which a stage's folder was made. */
export const rootOfStage = (folder: string): string => folder.slice(0, folder.lastIndexOf(`/${STAGES_FOLDER}/`));

/** The folder of an upload. */
export const uploadFolder = (folder: string, uploadId: string): string => `${folder}/${UPLOADS_FOLDER}/${uploadId}`;

/** An upload's file while it comes, where a store keeps its parts. */
export const uploadFile = (folder: string, uploadId: string): string => `${uploadFolder(folder, uploadId)}/coming`;

/** Whether a location is a folder of stages, or lies below one. */
export const isOfStages = (location: string): boolean => `${location}/`.includes(`/${STAGES_FOLDER}/`);
