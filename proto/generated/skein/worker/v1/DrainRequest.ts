// Original file: worker.proto


export interface DrainRequestInput {
}

export interface DrainRequest {
}
