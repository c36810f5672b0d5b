// host.cpp - a program without Python that runs what JAX exported.
//
//     host PLUGIN ARRAYS FUNCTION DERIVATIVE
//
// Loads a plugin of PJRT, compiles two modules of StableHLO, runs them on the arrays
// of a file and holds what comes out against what JAX computed.  Each PJRT object is
// owned by an Owned<>, which destroys it; each failure is thrown as a Failure.
#include "hosts/pjrt/pjrt.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Failure = std::runtime_error;

// ---- the plugin: its table of functions, and what is done with each error

class Plugin {
public:
    explicit Plugin(const char *path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL))
    {
        if (!library)
            throw Failure(dlerror());
        auto get = reinterpret_cast<const PJRT_Api *(*)()>(
            dlsym(library.get(), "GetPjrtApi"));
        if (!get)
            throw Failure(std::string(path) + ": not a plugin of PJRT");
        api = get();
        // Tables only grow: what is used here ends with the raw copies.
        if (api->pjrt_api_version.major_version != PJRT_API_MAJOR ||
            !PJRT_GIVES(api, PJRT_Buffer_CopyRawToHost))
            throw Failure(std::string(path) + ": speaks another version of PJRT");
        PJRT_Plugin_Initialize_Args args{};
        call(api->PJRT_Plugin_Initialize, args);
    }

    // Calls a function of the table; throws what it fails with.
    template <class Args>
    void call(PJRT_Error *(*function)(Args *), Args &args) const
    {
        args.struct_size = sizeof args;
        if (PJRT_Error *error = function(&args))
            throw Failure(take(error));
    }

    const PJRT_Api *operator->() const { return api; }

private:
    // An error's text; the error is gone after it.
    std::string take(PJRT_Error *error) const
    {
        PJRT_Error_Message_Args message{};
        message.struct_size = sizeof message;
        message.error = error;
        api->PJRT_Error_Message(&message);
        std::string text(message.message, message.message_size);
        PJRT_Error_Destroy_Args destroy{};
        destroy.struct_size = sizeof destroy;
        destroy.error = error;
        api->PJRT_Error_Destroy(&destroy);
        return text;
    }

    struct Close {
        void operator()(void *library) const { dlclose(library); }
    };
    std::unique_ptr<void, Close> library;
    const PJRT_Api *api = nullptr;
};

// ---- ownership

// Destroying what exists does not fail.
struct Destroy {
    const Plugin *plugin;

    void operator()(PJRT_Client *client) const
    {
        PJRT_Client_Destroy_Args args{};
        args.client = client;
        plugin->call((*plugin)->PJRT_Client_Destroy, args);
    }
    void operator()(PJRT_LoadedExecutable *executable) const
    {
        PJRT_LoadedExecutable_Destroy_Args args{};
        args.executable = executable;
        plugin->call((*plugin)->PJRT_LoadedExecutable_Destroy, args);
    }
    void operator()(PJRT_Executable *executable) const
    {
        PJRT_Executable_Destroy_Args args{};
        args.executable = executable;
        plugin->call((*plugin)->PJRT_Executable_Destroy, args);
    }
    void operator()(PJRT_Buffer *buffer) const
    {
        PJRT_Buffer_Destroy_Args args{};
        args.buffer = buffer;
        plugin->call((*plugin)->PJRT_Buffer_Destroy, args);
    }
    void operator()(PJRT_Event *event) const
    {
        PJRT_Event_Destroy_Args args{};
        args.event = event;
        plugin->call((*plugin)->PJRT_Event_Destroy, args);
    }
};

template <class T> using Owned = std::unique_ptr<T, Destroy>;
using Buffers = std::vector<Owned<PJRT_Buffer>>;

// Waits for an event, which is gone after it.
void await(const Plugin &plugin, PJRT_Event *event)
{
    Owned<PJRT_Event> owned(event, Destroy{&plugin});
    PJRT_Event_Await_Args args{};
    args.event = event;
    plugin.call(plugin->PJRT_Event_Await, args);
}

// ---- files

std::string read_file(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw Failure(std::string(path) + ": can't be read");
    return bytes;
}

struct Array {
    PJRT_Buffer_Type type;
    std::vector<int64_t> dims;
    std::string bytes;
};

// What make.py wrote: groups of arrays.
class Arrays {
public:
    enum Group { TAKEN, GIVEN, COTANGENTS, GRADIENTS, GROUPS };

    explicit Arrays(const char *path) : bytes(read_file(path))
    {
        int32_t counts[GROUPS];
        for (int32_t &count : counts)
            count = next<int32_t>();
        for (int g = 0; g < GROUPS; g++)
            for (int32_t i = 0; i < counts[g]; i++)
                groups[g].push_back(next_array());
    }
    const std::vector<Array> &operator[](Group group) const { return groups[group]; }

private:
    std::string take(size_t size)
    {
        if (size > bytes.size() - at)
            throw Failure("the file of arrays is cut off");
        at += size;
        return bytes.substr(at - size, size);
    }
    template <class T> T next()
    {
        T value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    Array next_array()
    {
        auto type = static_cast<PJRT_Buffer_Type>(next<int32_t>());
        std::vector<int64_t> dims(static_cast<size_t>(next<int32_t>()));
        size_t size = type == PJRT_Buffer_Type_PRED ? 1 : 4;
        for (int64_t &dim : dims)
            size *= static_cast<size_t>(dim = next<int64_t>());
        return {type, dims, take(size)};
    }

    std::string bytes;
    size_t at = 0;
    std::vector<Array> groups[GROUPS];
};

// ---- what is done with a client

class Host {
public:
    explicit Host(const Plugin &plugin) : plugin(plugin)
    {
        PJRT_Client_Create_Args create{};
        plugin.call(plugin->PJRT_Client_Create, create);
        client = {create.client, Destroy{&plugin}};
        PJRT_Client_AddressableDevices_Args devices{};
        devices.client = client.get();
        plugin.call(plugin->PJRT_Client_AddressableDevices, devices);
        if (!devices.num_addressable_devices)
            throw Failure("the plugin has no device");
        device = devices.addressable_devices[0];
    }

    Owned<PJRT_LoadedExecutable> compile(std::string module) const
    {
        // CompileOptionsProto, of which executable_build_options (3) says one
        // replica (4) of one partition (5).
        static const char options[] = {3 << 3 | 2, 4, 4 << 3, 1, 5 << 3, 1};
        PJRT_Program program{};
        program.struct_size = sizeof program;
        program.code = &module[0];
        program.code_size = module.size();
        program.format = "mlir";
        program.format_size = 4;
        PJRT_Client_Compile_Args args{};
        args.client = client.get();
        args.program = &program;
        args.compile_options = options;
        args.compile_options_size = sizeof options;
        plugin.call(plugin->PJRT_Client_Compile, args);
        return {args.executable, Destroy{&plugin}};
    }

    void put(const std::vector<Array> &arrays, Buffers &to) const
    {
        for (const Array &array : arrays) {
            PJRT_Client_BufferFromHostBuffer_Args args{};
            args.client = client.get();
            args.data = array.bytes.data();
            args.type = array.type;
            args.dims = array.dims.data();
            args.num_dims = array.dims.size();
            args.host_buffer_semantics =
                PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
            args.device = device;
            plugin.call(plugin->PJRT_Client_BufferFromHostBuffer, args);
            to.emplace_back(args.buffer, Destroy{&plugin});
            await(plugin, args.done_with_host_buffer);
        }
    }

    Buffers run(PJRT_LoadedExecutable *executable, const Buffers &inputs) const
    {
        std::vector<PJRT_Buffer *> in, out(count_outputs(executable));
        for (const auto &input : inputs)
            in.push_back(input.get());
        // A list of buffers per device, and there is one device.
        PJRT_Buffer *const *in_lists[] = {in.data()};
        PJRT_Buffer **out_lists[] = {out.data()};
        PJRT_Event *done[1] = {};
        PJRT_ExecuteOptions options{};
        options.struct_size = sizeof options;
        PJRT_LoadedExecutable_Execute_Args args{};
        args.executable = executable;
        args.options = &options;
        args.argument_lists = in_lists;
        args.num_devices = 1;
        args.num_args = in.size();
        args.output_lists = out_lists;
        args.device_complete_events = done;
        plugin.call(plugin->PJRT_LoadedExecutable_Execute, args);
        Buffers results;
        for (PJRT_Buffer *buffer : out)
            results.emplace_back(buffer, Destroy{&plugin});
        await(plugin, done[0]);
        return results;
    }

    std::string get(PJRT_Buffer *buffer) const
    {
        PJRT_Buffer_ToHostBuffer_Args args{};
        args.src = buffer;
        plugin.call(plugin->PJRT_Buffer_ToHostBuffer, args); // how many bytes
        std::string bytes(args.dst_size, '\0');
        if (bytes.empty())
            return bytes;
        args.dst = &bytes[0];
        plugin.call(plugin->PJRT_Buffer_ToHostBuffer, args);
        await(plugin, args.event);
        return bytes;
    }

private:
    size_t count_outputs(PJRT_LoadedExecutable *loaded) const
    {
        PJRT_LoadedExecutable_GetExecutable_Args get{};
        get.loaded_executable = loaded;
        plugin.call(plugin->PJRT_LoadedExecutable_GetExecutable, get);
        Owned<PJRT_Executable> executable(get.executable, Destroy{&plugin});
        PJRT_Executable_NumOutputs_Args args{};
        args.executable = executable.get();
        plugin.call(plugin->PJRT_Executable_NumOutputs, args);
        return args.num_outputs;
    }

    const Plugin &plugin;
    Owned<PJRT_Client> client{nullptr, Destroy{nullptr}};
    PJRT_Device *device = nullptr;
};

// ---- against JAX

// How far an array is from the expected one, beside the size of that.
double distance(const Array &expected, const std::string &found)
{
    if (found.size() != expected.bytes.size())
        throw Failure("a result has another size than JAX's");
    if (expected.type != PJRT_Buffer_Type_F32)
        return found == expected.bytes ? 0 : INFINITY;
    double most = 0;
    for (size_t i = 0; i < found.size(); i += sizeof(float)) {
        float a, b;
        std::memcpy(&a, &found[i], sizeof a);
        std::memcpy(&b, &expected.bytes[i], sizeof b);
        double far = std::fabs(double(a) - b) / (1 + std::fabs(b));
        most = far <= most ? most : far; // a NaN counts
    }
    return most;
}

bool compare(const Host &host, const char *name, const Buffers &results,
             const std::vector<Array> &expected)
{
    if (results.size() != expected.size())
        throw Failure(std::string(name) + ": gives another number of results");
    double most = 0;
    for (size_t i = 0; i < results.size(); i++) {
        double far = distance(expected[i], host.get(results[i].get()));
        most = far <= most ? most : far;
    }
    std::printf("%s: %zu results, at most %.1e from JAX's\n", name, results.size(),
                most);
    return most < 1e-4;
}

double milliseconds(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

bool run(char **argv, double begun)
{
    Plugin plugin(argv[1]);
    Host host(plugin);
    Arrays arrays(argv[2]);
    auto function = host.compile(read_file(argv[3]));
    auto derivative = host.compile(read_file(argv[4]));

    Buffers inputs;
    host.put(arrays[Arrays::TAKEN], inputs);
    bool same = compare(host, "function", host.run(function.get(), inputs),
                        arrays[Arrays::GIVEN]);
    host.put(arrays[Arrays::COTANGENTS], inputs);
    same &= compare(host, "derivative", host.run(derivative.get(), inputs),
                    arrays[Arrays::GRADIENTS]);
    std::printf("%.1f ms since main, %.1f ms of processor time in all\n",
                milliseconds(CLOCK_MONOTONIC) - begun,
                milliseconds(CLOCK_PROCESS_CPUTIME_ID));
    return same;
}

} // namespace

int main(int argc, char **argv)
{
    double begun = milliseconds(CLOCK_MONOTONIC);

    if (argc != 5) {
        std::fprintf(stderr, "usage: host PLUGIN ARRAYS FUNCTION DERIVATIVE\n");
        return 2;
    }
    try {
        return run(argv, begun) ? 0 : 1;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "host: %s\n", failure.what());
        return 3;
    }
}
