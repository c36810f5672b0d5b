// host.cpp - the same library from C++: owned by smart pointers.
//
// usage: hostpp scale.json
#include <jaxvet.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
    if (argc != 2 || jaxvet_abi_version() != JAXVET_ABI_VERSION)
        return 2;
    jaxvet_error error;
    std::unique_ptr<jaxvet_program, decltype(&jaxvet_close)> program(
        jaxvet_open(argv[1], 0, &error), jaxvet_close);
    if (!program) {
        std::cerr << error.file << ": " << error.message << "\n";
        return 1;
    }
    const jaxvet_size size = {"b", 4};
    std::unique_ptr<jaxvet_call, decltype(&jaxvet_call_free)> call(
        jaxvet_prepare(program.get(), &size, 1, &error), jaxvet_call_free);
    if (!call) {
        std::cerr << error.message << "\n";
        return 1;
    }
    const std::vector<float> x(12, 2.0f);
    const float s = 3.0f;
    std::vector<float> scaled(12), sum(3);
    const void *const inputs[] = {x.data(), &s};
    void *const outputs[] = {scaled.data(), sum.data()};
    if (jaxvet_run(call.get(), inputs, outputs, &error) != JAXVET_OK ||
        scaled[11] != 6.0f || sum[2] != 8.0f) {
        std::cerr << "wrong results\n";
        return 1;
    }
    std::cout << "jaxvet " << jaxvet_version() << "\n";
}
