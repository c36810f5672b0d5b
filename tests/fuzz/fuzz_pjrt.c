/* fuzz_pjrt.c - bytes that a host hands the plugin: options of a compilation
 * (whose devices are written again, and read), kept executables, topologies.
 * The first byte says which. */
#include "hosts/pjrt/plugin.h"
#include "tests/fuzz/fuzz.h"

static const char module[] =
    "module @f { func.func public @main(%a: tensor<f32>) -> tensor<f32> {"
    " return %a : tensor<f32> } }";

const PJRT_Api *GetPjrtApi(void);

/* Whether it went well; an error has a text, and a code that says
 * who is to blame. */
static bool went_well(PJRT_Error *error)
{
    PJRT_Error_Destroy_Args destroy = {.struct_size = sizeof destroy,
                                       .error = error};

    if (!error)
        return true;
    check(error->message[0] && error->code != PJRT_Error_Code_INTERNAL &&
          error->code != PJRT_Error_Code_OK);
    check(!GetPjrtApi()->PJRT_Error_Destroy(&destroy));
    return false;
}

static void free_executable(PJRT_LoadedExecutable *executable)
{
    PJRT_LoadedExecutable_Destroy_Args args = {.struct_size = sizeof args,
                                               .executable = executable};

    check(!GetPjrtApi()->PJRT_LoadedExecutable_Destroy(&args));
}

/* The devices as they are written are those that are read: wrapped as options
 * are, in executable_build_options (3) beside their numbers. */
static void check_round_trip(const jx_pjrt_options *options)
{
    jx_wire_out assignment = {0}, build = {0}, all = {0};
    jx_pjrt_options again;

    check(jx_pjrt_assignment_write(options, &assignment));
    jx_wire_put_varint(&build, 4, (uint64_t)options->replicas);
    jx_wire_put_varint(&build, 5, (uint64_t)options->partitions);
    jx_wire_put_bytes(&build, 9, assignment.at, assignment.size);
    jx_wire_put_bytes(&all, 3, build.at, build.size);
    check(!assignment.failed && !build.failed && !all.failed);
    check(went_well(jx_pjrt_options_read(all.at, all.size, &again)));
    check(again.replicas == options->replicas &&
          again.partitions == options->partitions && again.devices);
    for (int i = 0; i < again.ndevices; i++)
        check(again.devices[i] == jx_pjrt_device_of(options, i));
    jx_pjrt_options_free(&again);
    free(assignment.at);
    free(build.at);
    free(all.at);
}

static void try_options(const char *bytes, size_t size)
{
    jx_pjrt_options options;

    if (!went_well(jx_pjrt_options_read(bytes, size, &options)))
        return;
    check(options.replicas >= 1 && options.partitions >= 1);
    check(options.replicas * options.partitions <= JX_PJRT_MOST_DEVICES);
    check(!options.devices ||
          options.ndevices == options.replicas * options.partitions);
    for (int i = 0; i < options.ndevices; i++)
        check(options.devices[i] >= 0 &&
              options.devices[i] < JX_PJRT_MOST_DEVICES);
    check_round_trip(&options);
    jx_pjrt_options_free(&options);
}

static void try_compile(PJRT_Client *client, const char *bytes, size_t size)
{
    char code[sizeof module];
    PJRT_Program program = {.struct_size = sizeof program,
                            .code = code,
                            .code_size = sizeof module - 1,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args args = {.struct_size = sizeof args,
                                     .client = client,
                                     .program = &program,
                                     .compile_options = bytes,
                                     .compile_options_size = size};

    memcpy(code, module, sizeof module);
    if (went_well(GetPjrtApi()->PJRT_Client_Compile(&args)))
        free_executable(args.executable);
}

static void load(PJRT_Client *client, const char *bytes, size_t size)
{
    PJRT_Executable_DeserializeAndLoad_Args args = {
        .struct_size = sizeof args,
        .client = client,
        .serialized_executable = bytes,
        .serialized_executable_size = size};

    if (went_well(GetPjrtApi()->PJRT_Executable_DeserializeAndLoad(&args)))
        free_executable(args.loaded_executable);
}

/* As it is, and with the fingerprint (hosts/pjrt/executable.c) that
 * it should have. */
static void try_load(PJRT_Client *client, char *bytes, size_t size)
{
    enum { LENGTH_AT = 16, FINGERPRINT_AT = 32, HEAD = 64 };
    char fingerprint[JX_PJRT_FINGERPRINT + 1];
    uint64_t code;

    load(client, bytes, size);
    if (size < HEAD)
        return;
    memcpy(&code, bytes + LENGTH_AT, sizeof code);
    if (code > size - HEAD)
        return;
    jx_pjrt_fingerprint(bytes + HEAD, code, bytes + HEAD + code,
                        size - HEAD - code, fingerprint);
    memcpy(bytes + FINGERPRINT_AT, fingerprint, JX_PJRT_FINGERPRINT);
    load(client, bytes, size);
}

static void try_topology(const char *bytes, size_t size)
{
    PJRT_TopologyDescription_Deserialize_Args args = {
        .struct_size = sizeof args,
        .serialized_topology = bytes,
        .serialized_topology_size = size};
    PJRT_TopologyDescription_Destroy_Args destroy = {.struct_size =
                                                         sizeof destroy};

    if (!went_well(GetPjrtApi()->PJRT_TopologyDescription_Deserialize(&args)))
        return;
    check(args.topology->count >= 1 &&
          args.topology->count <= JX_PJRT_MOST_DEVICES);
    destroy.topology = args.topology;
    check(!GetPjrtApi()->PJRT_TopologyDescription_Destroy(&destroy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJRT_Client_Create_Args made = {.struct_size = sizeof made};
    PJRT_Client_Destroy_Args destroy = {.struct_size = sizeof destroy};
    char *copy;

    if (!size)
        return 0;
    copy = fuzz_copy(data + 1, size - 1);
    check(!GetPjrtApi()->PJRT_Client_Create(&made));
    switch (data[0] % 4) {
    case 0: try_options(copy, size - 1); break;
    case 1: try_compile(made.client, copy, size - 1); break;
    case 2: try_load(made.client, copy, size - 1); break;
    default: try_topology(copy, size - 1);
    }
    free(copy);
    destroy.client = made.client;
    check(!GetPjrtApi()->PJRT_Client_Destroy(&destroy));
    return 0;
}
